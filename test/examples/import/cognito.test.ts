/** Exports of Cognito in their documented forms: what is converted, and what is left out. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { convert, convertOne, readLeftOut } from './converter.ts'

const sub = 'd16b4aa8-8633-4abd-93b3-5062a8e1b5f8'
const ban = '2200-01-01T00:00:00Z'

const toAttributes = (values: Record<string, string>) =>
  Object.entries(values).map(([Name, Value]) => ({ Name, Value }))

const linkTo = (userId: string, primary: boolean) =>
  JSON.stringify([
    {
      userId,
      providerName: 'Google',
      providerType: 'Google',
      issuer: null,
      primary,
      dateCreated: 1_650_398_377_875,
    },
  ])

suite('examples: users of Cognito', () => {
  test('converts each field of the list of users', async (t) => {
    const user = {
      Username: 'ann',
      Attributes: toAttributes({
        sub,
        email: 'ann@example.com',
        email_verified: 'true',
        phone_number: '+15550100',
        phone_number_verified: 'true',
        name: 'Ann',
        picture: 'https://example.com/ann',
        locale: 'de',
        'custom:plan': 'gold',
        'dev:custom:tier': '1',
        identities: linkTo('104', false),
      }),
      UserCreateDate: '2024-02-01T11:00:00.123000+01:00',
      UserLastModifiedDate: '2024-03-01T10:00:00.000000+00:00',
      Enabled: false,
      UserStatus: 'CONFIRMED',
      UserMFASettingList: ['SOFTWARE_TOKEN_MFA'],
    }
    const { user: converted, notes } = await convertOne(t, 'cognito.ts', [{ Users: [user] }])
    assert.deepEqual(converted, {
      id: sub,
      email: 'ann@example.com',
      email_confirm: true,
      phone: '+15550100',
      phone_confirm: true,
      identities: [
        { provider: 'email' },
        { provider: 'phone' },
        {
          provider: 'google',
          provider_id: '104',
          identity_data: { sub: '104' },
          created_at: '2022-04-19T19:59:37.875Z',
        },
      ],
      user_metadata: {
        full_name: 'Ann',
        avatar_url: 'https://example.com/ann',
        locale: 'de',
        'custom:plan': 'gold',
      },
      app_metadata: { cognito_username: 'ann', 'dev:custom:tier': '1' },
      banned_until: ban,
      created_at: '2024-02-01T10:00:00.123Z',
      updated_at: '2024-03-01T10:00:00.000Z',
    })
    assert.deepEqual(readLeftOut(notes), [
      'Attributes.identities.primary (1)',
      'Attributes.identities.providerType (1)',
      'UserMFASettingList (1)',
    ])
  })

  test('converts numbers as times, several files, and compromised users as banned', async (t) => {
    const pages = ['a', 'b'].map((name) => ({
      Users: [
        {
          Username: sub,
          Attributes: toAttributes({ sub, email: `${name}@example.com` }),
          UserCreateDate: 1_689_980_857.949,
          Enabled: true,
          UserStatus: 'COMPROMISED',
        },
      ],
      PaginationToken: 'x',
    }))
    const { users } = await convert(t, 'cognito.ts', pages)
    assert.deepEqual(
      users.map(({ email, created_at, banned_until }) => [email, created_at, banned_until]),
      ['a@example.com', 'b@example.com'].map((email) => [email, '2023-07-21T23:07:37.949Z', ban]),
    )
  })

  test('keeps a user whose linked identity is listed as a user before', async (t) => {
    const profile = (userId: string, email: string) => ({
      Username: `Google_${userId}`,
      Attributes: toAttributes({ sub, email, identities: linkTo(userId, true) }),
      UserStatus: 'EXTERNAL_PROVIDER',
    })
    const local = {
      Username: 'ann',
      Attributes: toAttributes({ sub, email: 'ann@example.com', identities: linkTo('1', false) }),
      UserStatus: 'CONFIRMED',
    }
    const given = [profile('1', 'ann@example.com'), profile('2', 'bob@example.com'), local]
    const { users, notes } = await convert(t, 'cognito.ts', [{ Users: given }])
    assert.deepEqual(
      users.map(({ email, identities }) => [email, identities]),
      [
        ['bob@example.com', [identity('2')]],
        ['ann@example.com', [{ provider: 'email' }, identity('1')]],
      ],
    )
    assert.match(notes, /left out: profile of an identity that another user has \(1\)/)
  })
})

const identity = (sub: string) => ({
  provider: 'google',
  provider_id: sub,
  identity_data: { sub },
  created_at: '2022-04-19T19:59:37.875Z',
})
