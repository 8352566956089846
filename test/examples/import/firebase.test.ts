/** Exports of Firebase in their documented forms: what is converted, and what is left out. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { convert, convertOne, readLeftOut } from './converter.ts'

const hashing = ['c2lnbmVy', 'Bw==', '8', '14']
const ban = '2200-01-01T00:00:00Z'

suite('examples: users of Firebase', () => {
  test('converts each field of the command line export', async (t) => {
    const account = {
      localId: 'xYz1',
      email: 'ann@example.com',
      emailVerified: true,
      phoneNumber: '+15550100',
      passwordHash: 'aGFzaA==',
      salt: 'c2FsdA==',
      displayName: 'Ann',
      photoUrl: 'https://example.com/ann',
      disabled: true,
      createdAt: '1600000000000',
      lastSignedInAt: '1700000000000',
      customAttributes: '{"plan":"gold","firebase_id":"other"}',
      providerUserInfo: [
        { providerId: 'google.com', rawId: '1234', email: 'a@g.example', displayName: 'A' },
        { providerId: 'microsoft.com', rawId: '92abccda-29aa-4e31-b0fc-f7a72909d26a' },
        { providerId: 'apple.com', email: 'a@a.example' },
      ],
      mfaInfo: [{ phoneInfo: '+15550100', mfaEnrollmentId: 'x' }],
    }
    const { user, notes } = await convertOne(t, 'firebase.ts', [{ users: [account] }], hashing)
    assert.deepEqual(user, {
      email: 'ann@example.com',
      email_confirm: true,
      phone: '+15550100',
      phone_confirm: true,
      password_hash: '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=c2lnbmVy$c2FsdA==$aGFzaA==',
      user_metadata: { full_name: 'Ann', avatar_url: 'https://example.com/ann' },
      app_metadata: { plan: 'gold', firebase_id: 'xYz1' },
      banned_until: ban,
      identities: [
        { provider: 'email' },
        { provider: 'phone' },
        {
          provider: 'google',
          provider_id: '1234',
          identity_data: { sub: '1234', email: 'a@g.example', full_name: 'A' },
        },
      ],
      created_at: '2020-09-13T12:26:40.000Z',
      last_sign_in_at: '2023-11-14T22:13:20.000Z',
    })
    assert.deepEqual(readLeftOut(notes), [
      'identity of apple.com: no id (1)',
      'identity of microsoft.com: unknown provider (1)',
      'mfaInfo (1)',
    ])
  })

  test('converts users of the Admin SDK and of the REST API', async (t) => {
    const sdk = {
      uid: 'a',
      email: 'ann@example.com',
      photoURL: 'https://example.com/ann',
      customClaims: { plan: 'gold' },
      metadata: {
        creationTime: 'Sun, 13 Sep 2020 12:26:40 GMT',
        lastSignInTime: 'Tue, 14 Nov 2023 22:13:20 GMT',
        lastRefreshTime: 'Tue, 14 Nov 2023 22:13:20 GMT',
      },
      passwordHash: 'a-_b',
      passwordSalt: 'c2FsdA==',
      providerData: [
        { providerId: 'password', uid: 'ann@example.com', email: 'ann@example.com' },
        { providerId: 'github.com', uid: '99' },
      ],
    }
    const rest = { localId: 'b', phoneNumber: '+15550101', lastLoginAt: '1700000000000' }
    const { users, notes } = await convert(t, 'firebase.ts', [[sdk, rest]], hashing)
    const [first, second] = users
    assert.equal(first?.created_at, '2020-09-13T12:26:40.000Z')
    assert.deepEqual(
      [first?.last_sign_in_at, second?.last_sign_in_at],
      Array(2).fill('2023-11-14T22:13:20.000Z'),
    )
    assert.deepEqual(first?.app_metadata, { plan: 'gold', firebase_id: 'a' })
    assert.match(String(first?.password_hash), /\$c2FsdA==\$a\+\/b$/)
    assert.deepEqual(first?.identities, [
      { provider: 'email' },
      { provider: 'github', provider_id: '99', identity_data: { sub: '99' } },
    ])
    assert.deepEqual(readLeftOut(notes), ['metadata.lastRefreshTime (1)'])
  })

  test('leaves out hashes that cannot be verified, and keeps their users', async (t) => {
    const users = [
      { email: 'a@example.com', passwordHash: 'aGFzaA==' },
      { email: 'b@example.com', passwordHash: 'aGFzaA==', salt: 'c2FsdA==', version: 2 },
      { email: 'c@example.com', customAttributes: '{"plan":' },
    ]
    const converted = await convert(t, 'firebase.ts', [{ users }], hashing)
    assert.equal(converted.users.length, 3)
    assert.ok(converted.users.every((user) => user.password_hash === undefined))
    assert.deepEqual(readLeftOut(converted.notes), [
      'customAttributes: not an object (1)',
      'passwordHash: no salt (1)',
      'passwordHash: not hashed by Firebase (1)',
    ])
    const without = await convert(t, 'firebase.ts', [{ users: [{ passwordHash: 'a', salt: 'b' }] }])
    assert.match(without.notes, /passwordHash: no hash parameters \(1\)/)
  })

  test('converts anonymous users', async (t) => {
    const { user } = await convertOne(t, 'firebase.ts', [{ users: [{ localId: 'a' }] }])
    assert.equal(user.is_anonymous, true)
  })
})
