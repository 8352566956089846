/** Exports of Keycloak in their documented forms: what is converted, and what is left out. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { convert, convertOne, readLeftOut } from './converter.ts'

const id = 'd16b4aa8-8633-4abd-93b3-5062a8e1b5f8'
const ban = '2200-01-01T00:00:00Z'

const toCredential = (secret: object, data: object) => ({
  type: 'password',
  secretData: JSON.stringify(secret),
  credentialData: JSON.stringify(data),
})
const pbkdf2 = toCredential(
  { value: 'a+b=', salt: 'c+d=' },
  { algorithm: 'pbkdf2-sha256', hashIterations: 27_500 },
)

suite('examples: users of Keycloak', () => {
  test('converts each field of a realm', async (t) => {
    const user = {
      id,
      createdTimestamp: 1_600_000_000_000,
      username: 'ann',
      enabled: false,
      totp: false,
      emailVerified: true,
      firstName: 'Ann',
      lastName: 'Example',
      email: 'ann@example.com',
      attributes: {
        phoneNumber: ['+1 (555) 010-0123'],
        phoneNumberVerified: ['true'],
        locale: ['de'],
        team: ['a', 'b'],
      },
      credentials: [
        { id: 'x', createdDate: 5, ...pbkdf2 },
        { type: 'otp', secretData: '{}' },
      ],
      federatedIdentities: [
        { identityProvider: 'google', userId: '117', userName: 'ann@g.example' },
        { identityProvider: 'corp', userId: '5', userName: 'ann' },
        { identityProvider: 'microsoft', userId: '92abccda', userName: 'ann' },
      ],
      requiredActions: ['CONFIGURE_TOTP'],
      realmRoles: ['editor'],
      clientRoles: { app: ['admin'] },
      groups: ['/staff'],
      notBefore: 7,
      disableableCredentialTypes: [],
    }
    const more = ['--provider', 'corp=custom:corp']
    const realm = { realm: 'r', users: [user], clients: [{ id: 'c' }] }
    const { user: converted, notes } = await convertOne(t, 'keycloak.ts', [realm], more)
    assert.deepEqual(converted, {
      id,
      email: 'ann@example.com',
      email_confirm: true,
      phone: '+15550100123',
      phone_confirm: true,
      password_hash: '$pbkdf2-sha256$27500$c.d$a.b',
      identities: [
        { provider: 'email' },
        { provider: 'phone' },
        {
          provider: 'google',
          provider_id: '117',
          identity_data: { sub: '117', user_name: 'ann@g.example' },
        },
        {
          provider: 'custom:corp',
          provider_id: '5',
          identity_data: { sub: '5', user_name: 'ann' },
        },
      ],
      user_metadata: {
        full_name: 'Ann Example',
        given_name: 'Ann',
        family_name: 'Example',
        preferred_username: 'ann',
        locale: 'de',
        team: ['a', 'b'],
      },
      app_metadata: {
        realm_roles: ['editor'],
        client_roles: { app: ['admin'] },
        groups: ['/staff'],
      },
      banned_until: ban,
      created_at: '2020-09-13T12:26:40.000Z',
    })
    assert.deepEqual(readLeftOut(notes), [
      'credential otp (1)',
      'credentials.createdDate (1)',
      'credentials.id (1)',
      'identity of microsoft: unknown provider (1)',
      'notBefore (1)',
      'required action CONFIGURE_TOTP (1)',
      'totp (1)',
    ])
  })

  test('converts passwords of versions before 8, and of argon2i', async (t) => {
    const old = {
      type: 'password',
      hashedSaltedValue: 'YQ==',
      salt: 'Yg==',
      hashIterations: 20_000,
      counter: 0,
      algorithm: 'pbkdf2',
    }
    const parameters = { type: ['i'], memory: ['7168'], parallelism: ['1'], version: ['1.3'] }
    const argon2 = toCredential(
      { value: 'YQ==', salt: 'Yg==' },
      { algorithm: 'argon2', hashIterations: 5, additionalParameters: parameters },
    )
    const users = [old, argon2].map((credential) => ({ credentials: [credential] }))
    const { users: converted } = await convert(t, 'keycloak.ts', [{ users }])
    assert.deepEqual(
      converted.map(({ password_hash }) => password_hash),
      ['$pbkdf2-sha1$20000$Yg$YQ', '$argon2i$v=19$m=7168,t=5,p=1$Yg$YQ'],
    )
  })

  test('leaves out passwords and numbers that cannot be used, and keeps their users', async (t) => {
    const unknown = toCredential(
      { value: 'a', salt: 'b' },
      { algorithm: 'bcrypt', hashIterations: 1 },
    )
    const broken = { type: 'password', secretData: '{"value":', credentialData: '{}' }
    const users = [
      { credentials: [unknown] },
      { credentials: [broken] },
      { credentials: [pbkdf2], requiredActions: ['UPDATE_PASSWORD'] },
      { attributes: { phoneNumber: ['0555 1234'] }, email: 'a@b.co' },
      { email: 'a@b.co', emailVerified: true, requiredActions: ['VERIFY_EMAIL'] },
      { serviceAccountClientId: 'app', username: 'service-account-app' },
    ]
    const { users: converted, notes } = await convert(t, 'keycloak.ts', [{ users }])
    assert.equal(converted.length, 5)
    assert.ok(converted.every((user) => !user.password_hash && !user.phone && !user.email_confirm))
    assert.deepEqual(readLeftOut(notes), [
      'attributes.phoneNumber: not in international form (1)',
      'credential password: must be changed (1)',
      'credential password: unknown form (2)',
      'credentials.secretData: not an object (1)',
      'service account (1)',
    ])
  })
})
