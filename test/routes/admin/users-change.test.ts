/** What an admin changes of a person, and what ends with it. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { insertIdentity } from '../../../db/identities.ts'
import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/ending.ts'
import { createdPerson, enteredPerson, signIn } from '../../support/people.ts'
import { getUser, outcomeOf, refresh } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

suite('PUT /admin/users/{user_id}', () => {
  const ending = endingOfSuite()
  let app: App
  before(async () => {
    app = (await build(ending)).app
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
    ['ban', { ban_duration: '24h' }, (user) => assert.ok(user.banned_until)],
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
      const before = await createdPerson(app, { email, user_metadata: { a: 1, b: 2 } })
      const changed = await adminCall(app, 'PUT', `/admin/users/${before.id}`, change)
      check(changed, before)
      assert.deepEqual(await adminCall(app, 'GET', `/admin/users/${before.id}`), changed)
    })
  }

  for (const end of ['none', '0']) {
    test(`ban_duration ${end} ends a ban`, async () => {
      const email = `${crypto.randomUUID()}@example.com`
      const banned = await createdPerson(app, { email, ban_duration: '24h' })
      assert.ok(banned.banned_until)
      const url = `/admin/users/${banned.id}`
      const changed = await adminCall(app, 'PUT', url, { ban_duration: end })
      assert.equal(changed.banned_until, undefined)
    })
  }

  test('a taken address is refused in a sentence', async () => {
    const { id } = await createdPerson(app, { email: 'mover@example.com' })
    const owner = await createdPerson(app, { email: 'owner@example.com', phone: '15550122' })
    const url = `/admin/users/${id}`
    const byEmail = await asAdmin(app, 'PUT', url, { email: 'owner@example.com' })
    const claims = { sub: '1', email: 'proven@example.com', email_verified: true }
    const identity = { provider: 'github', provider_id: '1', identity_data: claims }
    await insertIdentity(app.db, { user_id: owner.id, ...identity }, new Date())
    const byProvider = await asAdmin(app, 'PUT', url, { email: claims.email })
    assert.deepEqual(outcomeOf(byProvider), [422, 'email_exists'])
    const byPhone = await asAdmin(app, 'PUT', url, { phone: '15550122' })
    assert.deepEqual([byEmail.statusCode, byEmail.json().error_code], [422, 'email_exists'])
    assert.deepEqual([byPhone.statusCode, byPhone.json().error_code], [422, 'phone_exists'])
  })

  test('racing for one address ends in one owner and no server fault', async () => {
    const people = await Promise.all(
      Array.from({ length: 5 }, (_, i) => createdPerson(app, { email: `racer-${i}@example.com` })),
    )
    const answers = await Promise.all(
      people.map(({ id }) =>
        asAdmin(app, 'PUT', `/admin/users/${id}`, { email: 'prize@example.com' }),
      ),
    )
    const codes = answers.map(({ statusCode }) => statusCode)
    assert.deepEqual(codes.sort(), [200, 422, 422, 422, 422])
  })

  test('a weak password is refused, a good one ends every session', async () => {
    const { id, session } = await enteredPerson(app, 'sessions@example.com')
    const weak = await asAdmin(app, 'PUT', `/admin/users/${id}`, { password: 'abc' })
    assert.equal(weak.json().error_code, 'weak_password')
    assert.equal((await refresh(app, session.refresh_token)).statusCode, 200)

    await adminCall(app, 'PUT', `/admin/users/${id}`, { password: 'another good one' })

    assert.equal((await getUser(app, session)).json().error_code, 'session_not_found')
    assert.equal((await signIn(app, { email: 'sessions@example.com' })).statusCode, 400)
    assert.equal(
      (await signIn(app, { email: 'sessions@example.com', password: 'another good one' }))
        .statusCode,
      200,
    )
  })

  test('a ban ends refreshing and our own endpoints at once, and its end restores both', async () => {
    const { id, session } = await enteredPerson(app, 'banned@example.com')
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
