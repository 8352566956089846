/** Changes of a user by an admin, and the sessions and codes they revoke. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { insertIdentity } from '../../../db/identities/identities.ts'
import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { changeUser, getUser, refresh, statusAndCode, verify } from '../../support/requests.ts'
import { type App, type Built, build } from '../../support/server.ts'
import {
  adminCreatedUser,
  anonymousUser,
  newAddress,
  newNumber,
  signedInAdminCreatedUser,
  signIn,
  unconfirmedUser,
} from '../../support/users.ts'

suite('PUT /admin/users/{user_id}', () => {
  const ending = endingOfSuite()
  let app: App
  let mail: Built['mail']
  before(async () => {
    const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
    ;({ app, mail } = await build(ending, { env }))
  })

  const changes: [string, object, (user: User, before: User) => void][] = [
    ['role', { role: ' editor ' }, ({ role }) => assert.equal(role, 'editor')],
    [
      'email, unconfirmed',
      { email: 'New-1@example.com' },
      (user, before) => {
        assert.equal(user.email, 'new-1@example.com')
        assert.equal(user.email_confirmed_at, before.email_confirmed_at)
        assert.equal(user.identities?.[0]?.identity_data?.email, 'new-1@example.com')
        assert.equal(user.identities?.[0]?.identity_data?.email_verified, false)
      },
    ],
    [
      'email, confirmed',
      { email: 'new-2@example.com', email_confirm: true },
      (user) => {
        assert.ok(user.email_confirmed_at)
        assert.equal(user.identities?.[0]?.identity_data?.email_verified, true)
        assert.equal(user.user_metadata.email_verified, true)
      },
    ],
    [
      'phone',
      { phone: '+15550111', phone_confirm: true },
      (user) => {
        assert.equal(user.phone, '15550111')
        assert.ok(user.phone_confirmed_at)
        assert.deepEqual(user.app_metadata.providers, ['email', 'phone'])
        const identity = user.identities?.find(({ provider }) => provider === 'phone')
        const phone = '15550111'
        const verified = { email_verified: false, phone_verified: true }
        assert.deepEqual(identity?.identity_data, { sub: user.id, phone, ...verified })
      },
    ],
    [
      'user_metadata',
      { user_metadata: { a: 2, b: null, deep: { c: null } } },
      (user) => assert.deepEqual(user.user_metadata, { a: 2, deep: { c: null } }),
    ],
    [
      'app_metadata',
      { app_metadata: { plan: 'gold' } },
      (user) => {
        assert.deepEqual(user.app_metadata, {
          provider: 'email',
          providers: ['email'],
          plan: 'gold',
        })
      },
    ],
    [
      'ban',
      { ban_duration: '24h' },
      (user) => {
        const seconds = (Date.parse(user.banned_until ?? '') - Date.now()) / 1000
        assert.ok(Math.abs(seconds - 86_400) < 600, `${seconds}`)
      },
    ],
    [
      'nothing',
      { role: '', email: '', phone: '', password: '', email_confirm: false, ban_duration: '' },
      (user, before) => {
        assert.deepEqual({ ...user, updated_at: '' }, { ...before, updated_at: '' })
      },
    ],
  ]
  for (const [name, change, check] of changes) {
    test(`changes ${name}`, async () => {
      const email = `${crypto.randomUUID()}@example.com`
      const before = await adminCreatedUser(app, { email, user_metadata: { a: 1, b: 2 } })
      const changed = await adminCall(app, 'PUT', `/admin/users/${before.id}`, change)
      check(changed, before)
      assert.deepEqual(await adminCall(app, 'GET', `/admin/users/${before.id}`), changed)
    })
  }

  for (const end of ['none', '0']) {
    test(`ban_duration ${end} lifts a ban`, async () => {
      const email = `${crypto.randomUUID()}@example.com`
      const banned = await adminCreatedUser(app, { email, ban_duration: '24h' })
      assert.ok(banned.banned_until)
      const url = `/admin/users/${banned.id}`
      const changed = await adminCall(app, 'PUT', url, { ban_duration: end })
      assert.equal(changed.banned_until, undefined)
    })
  }

  const additions: [string, object][] = [
    ['phone', { phone: newNumber() }],
    ['confirmed phone', { phone: newNumber(), phone_confirm: true }],
  ]
  for (const [name, change] of additions) {
    test(`changing a ${name} keeps emailed codes valid`, async () => {
      const { user, message } = await unconfirmedUser({ app, mail })
      await adminCall(app, 'PUT', `/admin/users/${user.id}`, change)
      const verification = { type: 'signup', email: user.email, token: codeIn(message) }
      assert.equal((await verify(app, verification)).statusCode, 200)
      assert.equal((await signIn(app, { email: user.email })).statusCode, 200)
    })
  }

  test('changing the email invalidates codes sent to the previous one', async () => {
    const { user, message } = await unconfirmedUser({ app, mail })
    await adminCall(app, 'PUT', `/admin/users/${user.id}`, { email: newAddress() })
    const verification = { type: 'signup', email: user.email, token: codeIn(message) }
    assert.deepEqual(statusAndCode(await verify(app, verification)), [403, 'otp_expired'])
  })

  const addresses: [string, () => object][] = [
    ['email', () => ({ email: newAddress() })],
    ['phone', () => ({ phone: newNumber() })],
  ]
  for (const [name, address] of addresses) {
    test(`makes an anonymous user permanent by ${name} and ${name}_confirm`, async () => {
      const { user } = await anonymousUser(app)
      const url = `/admin/users/${user.id}`
      const added = await adminCall(app, 'PUT', url, address())
      assert.equal(added.is_anonymous, true)
      const confirmed = await adminCall(app, 'PUT', url, { [`${name}_confirm`]: true })
      assert.equal(confirmed.is_anonymous, false)
      assert.ok(confirmed[`${name}_confirmed_at` as keyof User])
    })
  }

  test('rejects a taken email or phone', async () => {
    const { id } = await adminCreatedUser(app, { email: 'mover@example.com' })
    const owner = await adminCreatedUser(app, { email: 'owner@example.com', phone: '15550122' })
    const url = `/admin/users/${id}`
    const byEmail = await asAdmin(app, 'PUT', url, { email: 'owner@example.com' })
    const claims = { sub: '1', email: 'proven@example.com', email_verified: true }
    const identity = { provider: 'github', provider_id: '1', identity_data: claims }
    await insertIdentity(app.db, { user_id: owner.id, ...identity }, new Date())
    const byProvider = await asAdmin(app, 'PUT', url, { email: claims.email })
    assert.deepEqual(statusAndCode(byProvider), [422, 'email_exists'])
    const byPhone = await asAdmin(app, 'PUT', url, { phone: '15550122' })
    assert.deepEqual([byEmail.statusCode, byEmail.json().error_code], [422, 'email_exists'])
    assert.deepEqual([byPhone.statusCode, byPhone.json().error_code], [422, 'phone_exists'])
  })

  test('gives a contested email to one user when five requests race', async () => {
    const users = await Promise.all(
      Array.from({ length: 5 }, (_, i) =>
        adminCreatedUser(app, { email: `racer-${i}@example.com` }),
      ),
    )
    const responses = await Promise.all(
      users.map(({ id }) =>
        asAdmin(app, 'PUT', `/admin/users/${id}`, { email: 'prize@example.com' }),
      ),
    )
    const codes = responses.map(({ statusCode }) => statusCode)
    assert.deepEqual(codes.sort(), [200, 422, 422, 422, 422])
  })

  test('rejects a weak password and revokes all sessions on a password change', async () => {
    const { id, session } = await signedInAdminCreatedUser(app, 'sessions@example.com')
    const weak = await asAdmin(app, 'PUT', `/admin/users/${id}`, { password: 'abc' })
    assert.equal(weak.json().error_code, 'weak_password')
    assert.equal((await refresh(app, session.refresh_token)).statusCode, 200)

    await adminCall(app, 'PUT', `/admin/users/${id}`, { password: 'another valid password' })

    assert.equal((await getUser(app, session)).json().error_code, 'session_not_found')
    assert.equal((await signIn(app, { email: 'sessions@example.com' })).statusCode, 400)
    assert.equal(
      (await signIn(app, { email: 'sessions@example.com', password: 'another valid password' }))
        .statusCode,
      200,
    )
  })

  test('a new password clears the times of messages that it invalidates', async () => {
    const { id, session } = await signedInAdminCreatedUser(app, newAddress())
    await changeUser(app, session.access_token, { email: newAddress() })
    const url = `/admin/users/${id}`
    const sentTimes = (user: object) => Object.keys(user).filter((key) => /_sent_at$/.test(key))
    assert.deepEqual(sentTimes(await adminCall(app, 'GET', url)), ['email_change_sent_at'])
    await adminCall(app, 'PUT', url, { password: 'another valid password' })
    assert.deepEqual(sentTimes(await adminCall(app, 'GET', url)), [])
  })

  test('rejects requests and refreshes of a banned user until the ban ends', async () => {
    const { id, session } = await signedInAdminCreatedUser(app, 'banned@example.com')
    await adminCall(app, 'PUT', `/admin/users/${id}`, { ban_duration: '1h' })

    assert.equal((await getUser(app, session)).json().error_code, 'user_banned')
    assert.equal((await refresh(app, session.refresh_token)).json().error_code, 'user_banned')
    const right = await signIn(app, { email: 'banned@example.com' })
    assert.equal(right.json().error_code, 'user_banned')
    const wrong = await signIn(app, { email: 'banned@example.com', password: 'not the password' })
    assert.equal(wrong.json().error_code, 'invalid_credentials')

    await adminCall(app, 'PUT', `/admin/users/${id}`, { ban_duration: 'none' })
    assert.equal((await getUser(app, session)).statusCode, 200)
    assert.equal((await refresh(app, session.refresh_token)).statusCode, 200)
  })
})
