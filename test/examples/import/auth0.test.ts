/** Exports of Auth0 in their documented forms: what is converted, and what is left out. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { convert, convertOne, readLeftOut } from './converter.ts'

const objectId = '5dea9f9c82dd7c0e76e4ec93'
const hash = '$2b$10$abcdefghijklmnopqrstuv'
const ban = '2200-01-01T00:00:00Z'

const account = {
  user_id: `auth0|${objectId}`,
  email: 'ann@example.com',
  email_verified: true,
  phone_number: '+15550100',
  phone_verified: true,
  name: 'Ann Example',
  nickname: 'ann',
  given_name: 'Ann',
  family_name: 'Example',
  username: 'ann',
  picture: 'https://example.com/ann',
  blocked: true,
  created_at: '2019-12-06T18:36:12.412Z',
  updated_at: '2020-01-01T00:00:00.000Z',
  last_login: '2021-01-01T00:00:00.000Z',
  last_ip: '192.0.2.1',
  logins_count: 3,
  multifactor: ['guardian'],
  user_metadata: { color: 'red' },
  app_metadata: { plan: 'gold', auth0_id: 'other' },
  identities: [
    { provider: 'auth0', connection: 'Users', user_id: objectId, isSocial: false },
    {
      provider: 'google-oauth2',
      connection: 'google-oauth2',
      user_id: '117',
      isSocial: true,
      access_token: 'secret',
      profileData: {
        email: 'a@g.example',
        name: 'A',
        picture: 'https://g.example/a',
        locale: 'de',
      },
    },
    { provider: 'github', user_id: 99 },
    { provider: 'windowslive', user_id: 'dbce538656255249' },
    { provider: 'oauth2', connection: 'discord', user_id: 'discord|77' },
  ],
}

suite('examples: users of Auth0', () => {
  test('converts each field of the export of users, with a provider that is named', async (t) => {
    const more = ['--provider', 'discord=discord']
    const { user, notes } = await convertOne(t, 'auth0.ts', [[account]], more)
    const { identities, ...fields } = user
    assert.deepEqual(fields, {
      email: 'ann@example.com',
      email_confirm: true,
      phone: '+15550100',
      phone_confirm: true,
      user_metadata: {
        full_name: 'Ann Example',
        nickname: 'ann',
        given_name: 'Ann',
        family_name: 'Example',
        preferred_username: 'ann',
        avatar_url: 'https://example.com/ann',
        color: 'red',
      },
      app_metadata: { plan: 'gold', auth0_id: `auth0|${objectId}` },
      banned_until: ban,
      created_at: '2019-12-06T18:36:12.412Z',
      updated_at: '2020-01-01T00:00:00.000Z',
      last_sign_in_at: '2021-01-01T00:00:00.000Z',
    })
    const google = { email: 'a@g.example', full_name: 'A', avatar_url: 'https://g.example/a' }
    assert.deepEqual(identities, [
      { provider: 'email' },
      { provider: 'google', provider_id: '117', identity_data: { sub: '117', ...google } },
      { provider: 'github', provider_id: '99', identity_data: { sub: '99' } },
      { provider: 'discord', provider_id: '77', identity_data: { sub: '77' } },
    ])
    assert.deepEqual(readLeftOut(notes), [
      'identities.access_token (1)',
      'identities.isSocial (1)',
      'identities.profileData.locale (1)',
      'identity of windowslive: unknown provider (1)',
      'last_ip (1)',
      'logins_count (1)',
      'multifactor (1)',
    ])
  })

  test('converts the file with hashes, of which some records list identifiers', async (t) => {
    const records = [
      {
        _id: { $oid: objectId },
        email: 'ann@example.com',
        email_verified: true,
        passwordHash: hash,
        password_set_date: { $date: '2019-12-06T18:36:12.412Z' },
        tenant: 'example',
        connection: 'Users',
        _tmp_is_unique: true,
      },
      {
        _id: { $oid: objectId },
        alt_id: 'euclid',
        passwordHash: hash,
        identifiers: [
          { type: 'email', value: 'bob@example.com', verified: true },
          { type: 'phone', value: '+15550100', verified: false },
        ],
      },
    ]
    const lines = records.map((record) => JSON.stringify(record)).join('\n')
    const { users, notes } = await convert(t, 'auth0.ts', [lines])
    const created_at = '2019-12-06T18:36:12.000Z'
    const shared = { password_hash: hash, user_metadata: {}, created_at }
    assert.deepEqual(users, [
      {
        email: 'ann@example.com',
        email_confirm: true,
        phone_confirm: false,
        ...shared,
        app_metadata: { auth0_id: `auth0|${objectId}` },
      },
      {
        email: 'bob@example.com',
        email_confirm: true,
        ...shared,
        phone: '+15550100',
        phone_confirm: false,
        app_metadata: { auth0_id: 'auth0|euclid' },
      },
    ])
    assert.deepEqual(readLeftOut(notes), [
      '_tmp_is_unique (1)',
      'connection (1)',
      'password_set_date (1)',
      'tenant (1)',
    ])
  })

  test('adds the hashes of one file to the users of another', async (t) => {
    const social = {
      user_id: 'google-oauth2|5',
      email: 'bob@example.com',
      identities: [
        { provider: 'google-oauth2', user_id: '5' },
        { provider: 'auth0', user_id: 'euclid' },
      ],
    }
    const hashes = [
      { _id: { $oid: objectId }, passwordHash: hash, email: 'ann@example.com' },
      { _id: { $oid: `${objectId.slice(0, -1)}4` }, alt_id: 'euclid', passwordHash: `${hash}2` },
      { _id: { $oid: `${objectId.slice(0, -1)}5` }, passwordHash: hash, email: 'gone@example.com' },
    ]
    const { users, notes } = await convert(t, 'auth0.ts', [[account, social], hashes])
    assert.deepEqual(
      users.map(({ password_hash }) => password_hash),
      [hash, `${hash}2`],
    )
    assert.match(notes, /^1 password hashes belong to no user of /m)
  })
})
