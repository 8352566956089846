/** A sign-in that was proven before a password change, a ban or a deletion, and arrives after it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { hash as bcrypt } from '@node-rs/bcrypt'

import { asAdmin } from '../support/admin.ts'
import { holdPerson } from '../support/held-person.ts'
import {
  autoconfirm,
  createdPerson,
  newAddress,
  newPerson,
  password,
  signedIn,
  signIn,
  signUp,
} from '../support/people.ts'
import { changeUser, getUser, outcomeOf } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const other = 'something else entirely'

type Answer = Awaited<ReturnType<typeof asAdmin>>

suite('a proof that is no longer true when the session is opened', () => {
  const serverFor = sharedServers()

  const refused: [string, [number, string]] = ['the old password', [400, 'invalid_credentials']]
  const events: Record<
    string,
    [(app: App, id: string, token: string) => PromiseLike<Answer>, ...typeof refused]
  > = {
    'a new password of the person': [
      (app, _, token) => changeUser(app, token, { password: other }),
      ...refused,
    ],
    'a new password by an admin': [
      (app, id) => asAdmin(app, 'PUT', `/admin/users/${id}`, { password: other }),
      ...refused,
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
  for (const [name, [happen, , answer]] of Object.entries(events)) {
    test(`${name} comes between the check and the session`, async () => {
      const { app } = await serverFor(autoconfirm)
      const { email, user, access_token } = await newPerson(app)
      const held = await holdPerson(app, user.id)
      const event = await held.queue(1, () => happen(app, user.id, access_token))
      const late = await held.queue(2, () => signIn(app, { email }))
      await held.release()
      assert.equal((await event.answer).statusCode, 200)
      assert.deepEqual(outcomeOf(await late.answer), answer)
    })
  }

  const whileUnproven: Record<string, [string, [number, string]]> = {
    'a new password by an admin': ['the old password', [400, 'user_already_exists']],
    'a deletion': ['the deleted', [400, 'user_already_exists']],
    'a ban': ['the banned', [400, 'user_banned']],
  }
  for (const [name, [whom, outcome]] of Object.entries(whileUnproven)) {
    test(`${name} comes before a sign-up that would confirm the account: ${whom} gets no session`, async () => {
      const { app } = await serverFor(autoconfirm)
      const email = newAddress()
      const { id } = await createdPerson(app, { email, password })
      const held = await holdPerson(app, id)
      const event = await held.queue(1, () => (events[name] ?? assert.fail())[0](app, id, ''))
      const late = await held.queue(2, () => signUp(app, { email }))
      await held.release()
      assert.equal((await event.answer).statusCode, 200)
      assert.deepEqual(outcomeOf(await late.answer), outcome)
    })
  }

  test('the renewal of an imported hash does not bring the old password back', async () => {
    const { app } = await serverFor(autoconfirm)
    const { email, id } = await imported(app)
    const held = await holdPerson(app, id)
    const event = await held.queue(1, () =>
      asAdmin(app, 'PUT', `/admin/users/${id}`, { password: other }),
    )
    const late = await held.queue(2, () => signIn(app, { email }))
    await held.release()
    assert.equal((await event.answer).statusCode, 200)
    assert.deepEqual(outcomeOf(await late.answer), [400, 'invalid_credentials'])
    assert.equal((await signIn(app, { email })).statusCode, 400)
    assert.equal((await signIn(app, { email, password: other })).statusCode, 200)
  })

  test('sign-ins that renew an imported hash at once are all let in', async () => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await imported(app)
    const answers = await Promise.all(Array.from({ length: 4 }, () => signIn(app, { email })))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [200, 200, 200, 200],
    )
  })

  test('a change that a stolen session began does not come after the one that ended it', async () => {
    const { app } = await serverFor({
      ...autoconfirm,
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
    })
    const own = await newPerson(app)
    const stolen = await signedIn(app, own.email)
    const held = await holdPerson(app, own.user.id)
    const change = (token: string, wanted: string) =>
      changeUser(app, token, { password: wanted, current_password: password })
    const first = await held.queue(1, () => change(own.access_token, other))
    const second = await held.queue(2, () => change(stolen.access_token, 'the choice of a thief'))
    await held.release()
    assert.equal((await first.answer).statusCode, 200)
    assert.deepEqual(outcomeOf(await second.answer), [403, 'session_not_found'])
    assert.equal((await signIn(app, { email: own.email, password: other })).statusCode, 200)
    assert.equal((await getUser(app, own)).statusCode, 200)
  })

  test('of two changes at once in one session, the second was checked with a password that is no more', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user, email, access_token } = await newPerson(app)
    const held = await holdPerson(app, user.id)
    const first = await held.queue(1, () => changeUser(app, access_token, { password: other }))
    const late = { password: 'another choice' }
    const second = await held.queue(2, () => changeUser(app, access_token, late))
    await held.release()
    assert.equal((await first.answer).statusCode, 200)
    assert.deepEqual(outcomeOf(await second.answer), [400, 'current_password_invalid'])
    assert.equal((await signIn(app, { email, password: other })).statusCode, 200)
  })
})

async function imported(app: App) {
  const email = newAddress()
  const password_hash = await bcrypt(password, 4)
  const { id } = await createdPerson(app, { email, email_confirm: true, password_hash })
  return { email, id }
}
