/** Sign-ins verified before a password change, ban or deletion and completed after it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { hash as bcrypt } from '@node-rs/bcrypt'

import { asAdmin } from '../../support/admin.ts'
import { lockUserRow } from '../../support/locked-user.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { changeUser, getUser, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import {
  adminCreatedUser,
  autoconfirm,
  newAddress,
  password,
  signedIn,
  signIn,
  signUp,
  signUpUser,
} from '../../support/users.ts'

const other = 'something else entirely'

type Response = Awaited<ReturnType<typeof asAdmin>>

suite('authentication invalidated before session creation', () => {
  const serverFor = sharedServers()

  const rejected: [string, [number, string]] = ['the old password', [400, 'invalid_credentials']]
  const events: Record<
    string,
    [(app: App, id: string, token: string) => PromiseLike<Response>, ...typeof rejected]
  > = {
    'a new password': [(app, _, token) => changeUser(app, token, { password: other }), ...rejected],
    'a new password set by an admin': [
      (app, id) => asAdmin(app, 'PUT', `/admin/users/${id}`, { password: other }),
      ...rejected,
    ],
    'a ban': [
      (app, id) => asAdmin(app, 'PUT', `/admin/users/${id}`, { ban_duration: '1h' }),
      'the banned',
      [400, 'user_banned'],
    ],
    'a deletion': [
      (app, id) => asAdmin(app, 'DELETE', `/admin/users/${id}`),
      'the deleted',
      [400, 'invalid_credentials'],
    ],
    'a soft deletion': [
      (app, id) => asAdmin(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true }),
      'the deleted',
      [400, 'invalid_credentials'],
    ],
  }
  for (const [name, [happen, , response]] of Object.entries(events)) {
    test(`rejects a sign-in when ${name} happens between check and session`, async () => {
      const { app } = await serverFor(autoconfirm)
      const { email, user, access_token } = await signUpUser(app)
      const lock = await lockUserRow(app, user.id)
      const event = await lock.queue(1, () => happen(app, user.id, access_token))
      const late = await lock.queue(2, () => signIn(app, { email }))
      await lock.release()
      assert.equal((await event.response).statusCode, 200)
      assert.deepEqual(statusAndCode(await late.response), response)
    })
  }

  const whileUnverified: Record<string, [string, [number, string]]> = {
    'a new password set by an admin': ['the old password', [400, 'user_already_exists']],
    'a deletion': ['the deleted', [400, 'user_already_exists']],
    'a ban': ['the banned', [400, 'user_banned']],
  }
  for (const [name, [whom, outcome]] of Object.entries(whileUnverified)) {
    test(`rejects an autoconfirmed sign-up after ${name}: ${whom} gets no session`, async () => {
      const { app } = await serverFor(autoconfirm)
      const email = newAddress()
      const { id } = await adminCreatedUser(app, { email, password })
      const lock = await lockUserRow(app, id)
      const event = await lock.queue(1, () => (events[name] ?? assert.fail())[0](app, id, ''))
      const late = await lock.queue(2, () => signUp(app, { email }))
      await lock.release()
      assert.equal((await event.response).statusCode, 200)
      assert.deepEqual(statusAndCode(await late.response), outcome)
    })
  }

  test('does not restore the old password by rehashing an imported hash', async () => {
    const { app } = await serverFor(autoconfirm)
    const { email, id } = await imported(app)
    const lock = await lockUserRow(app, id)
    const event = await lock.queue(1, () =>
      asAdmin(app, 'PUT', `/admin/users/${id}`, { password: other }),
    )
    const late = await lock.queue(2, () => signIn(app, { email }))
    await lock.release()
    assert.equal((await event.response).statusCode, 200)
    assert.deepEqual(statusAndCode(await late.response), [400, 'invalid_credentials'])
    assert.equal((await signIn(app, { email })).statusCode, 400)
    assert.equal((await signIn(app, { email, password: other })).statusCode, 200)
  })

  test('accepts racing sign-ins that rehash an imported hash', async () => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await imported(app)
    const responses = await Promise.all(Array.from({ length: 4 }, () => signIn(app, { email })))
    assert.deepEqual(
      responses.map(({ statusCode }) => statusCode),
      [200, 200, 200, 200],
    )
  })

  test('rejects a change started by a stolen session after its revocation', async () => {
    const { app } = await serverFor({
      ...autoconfirm,
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
    })
    const own = await signUpUser(app)
    const stolen = await signedIn(app, own.email)
    const lock = await lockUserRow(app, own.user.id)
    const change = (token: string, newValue: string) =>
      changeUser(app, token, { password: newValue, current_password: password })
    const first = await lock.queue(1, () => change(own.access_token, other))
    const second = await lock.queue(2, () =>
      change(stolen.access_token, 'the choice of an attacker'),
    )
    await lock.release()
    assert.equal((await first.response).statusCode, 200)
    assert.deepEqual(statusAndCode(await second.response), [403, 'session_not_found'])
    assert.equal((await signIn(app, { email: own.email, password: other })).statusCode, 200)
    assert.equal((await getUser(app, own)).statusCode, 200)
  })

  test('rejects the second of two racing password changes with the old password', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user, email, access_token } = await signUpUser(app)
    const lock = await lockUserRow(app, user.id)
    const first = await lock.queue(1, () => changeUser(app, access_token, { password: other }))
    const late = { password: 'another choice' }
    const second = await lock.queue(2, () => changeUser(app, access_token, late))
    await lock.release()
    assert.equal((await first.response).statusCode, 200)
    assert.deepEqual(statusAndCode(await second.response), [400, 'current_password_invalid'])
    assert.equal((await signIn(app, { email, password: other })).statusCode, 200)
  })
})

async function imported(app: App) {
  const email = newAddress()
  const password_hash = await bcrypt(password, 4)
  const { id } = await adminCreatedUser(app, { email, email_confirm: true, password_hash })
  return { email, id }
}
