/** DELETE /user: people who delete their own account, and whoever must not. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { allEvents, typesOf } from '../../support/events.ts'
import { addTotp, prove } from '../../support/factors.ts'
import { mailAfter, nextMail } from '../../support/mail-journeys.ts'
import { codeIn } from '../../support/mail-links.ts'
import {
  anonymousPerson,
  autoconfirm,
  newAddress,
  newPerson,
  password,
  signedIn,
  signIn,
  signUp,
} from '../../support/people.ts'
import { call, getUser, outcomeOf, refresh } from '../../support/requests.ts'
import type { App, Built } from '../../support/server.ts'
import { sharedServers } from '../../support/shared-servers.ts'

const allowed = { ...autoconfirm, AUTH_USER_SELF_DELETE_ENABLED: 'true' }

const remove = (app: App, { access_token: token }: Pick<Session, 'access_token'>, proof?: object) =>
  call(app, '/user', proof, { method: 'DELETE', token })

const exists = async ({ db }: App, id: string) =>
  (await db.selectFrom('users').select('id').where('id', '=', id).execute()).length === 1

/** Somebody who signed in eleven minutes ago. */
async function staleSession(t: TestContext, { app }: Built) {
  const person = await newPerson(app)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 })
  return person
}

async function nonceOf(server: Built, { access_token: token, email }: Session & { email: string }) {
  const ask = () => call(server.app, '/reauthenticate', undefined, { token })
  return codeIn(await mailAfter(server, email, ask))
}

suite('people who delete their account', () => {
  const servers = sharedServers()

  test('cannot unless the operator lets them: 404 feature_disabled', async () => {
    const { app } = await servers(autoconfirm)
    const person = await newPerson(app)
    assert.deepEqual(outcomeOf(await remove(app, person)), [404, 'feature_disabled'])
    assert.ok(await exists(app, person.user.id))
  })

  test('need a token', async () => {
    const { app } = await servers(allowed)
    assert.equal((await app.inject({ method: 'DELETE', url: '/user' })).statusCode, 401)
  })

  test('who signed in just now are gone at once, with all their sessions, and may come again', async () => {
    const { app } = await servers({ ...allowed, AUTH_EVENTS_ENABLED: 'true' })
    const person = await newPerson(app)
    const other = await signedIn(app, person.email)
    const response = await remove(app, person)
    assert.equal(response.statusCode, 204)
    assert.equal(response.body, '')

    assert.equal(await exists(app, person.user.id), false)
    for (const session of [person, other]) {
      assert.equal((await getUser(app, session)).statusCode, 403)
      assert.equal((await refresh(app, session.refresh_token)).statusCode, 400)
    }
    const { email } = person
    assert.deepEqual(outcomeOf(await signIn(app, { email })), [400, 'invalid_credentials'])
    const events = (await allEvents(app, person.user.id, 7)).slice(4)
    assert.deepEqual(typesOf(events), ['session.revoked', 'session.revoked', 'user.deleted'])
    assert.equal(events.at(-1)?.data.soft, false)
    const again: Session = (await signUp(app, { email })).json()
    assert.notEqual(again.user.id, person.user.id)
  })

  test('are named by the audit trail as the ones who did it', async () => {
    const { app } = await servers(allowed)
    const person = await newPerson(app)
    await remove(app, person)
    const entries = await adminCall<{ payload: Record<string, unknown> }[]>(
      app,
      'GET',
      '/admin/audit?query=action:user_deleted',
    )
    const entry = entries.find(({ payload }) => payload.actor_id === person.user.id)
    assert.equal(entry?.payload.actor_username, person.email)
  })

  test('are told by a mail where the operator wants that', async () => {
    const flag = 'AUTH_MAILER_NOTIFICATIONS_ACCOUNT_DELETED_ENABLED'
    const server = await servers({ ...allowed, [flag]: 'true' })
    const person = await newPerson(server.app)
    assert.equal((await remove(server.app, person)).statusCode, 204)
    const { mail } = await nextMail(server, person.email)
    assert.equal(mail.subject, 'Your account was deleted')
    assert.ok(mail.text?.includes(person.email))
  })

  test('who signed in a while ago show who they are', async (t) => {
    const server = await servers(allowed)
    const { app } = server
    const person = await staleSession(t, server)
    const code = await nonceOf(server, person)
    const wrong = code === '123456' ? '654321' : '123456'
    const refusals: [proof: object | undefined, status: number, code: string][] = [
      [undefined, 400, 'reauthentication_needed'],
      [{}, 400, 'reauthentication_needed'],
      [{ nonce: '', password: '' }, 400, 'reauthentication_needed'],
      [{ password: 'not this one' }, 400, 'current_password_invalid'],
      [{ nonce: wrong }, 422, 'reauthentication_not_valid'],
      // A nonce that is wrong is not made good by anything else.
      [{ nonce: wrong, password }, 422, 'reauthentication_not_valid'],
    ]
    for (const [proof, ...outcome] of refusals) {
      assert.deepEqual(outcomeOf(await remove(app, person, proof)), outcome, JSON.stringify(proof))
    }
    assert.ok(await exists(app, person.user.id))
    assert.equal((await remove(app, person, { nonce: code })).statusCode, 204)
    assert.equal(await exists(app, person.user.id), false)
  })

  test('may show it by the password', async (t) => {
    const server = await servers(allowed)
    const person = await staleSession(t, server)
    assert.equal((await remove(server.app, person, { password })).statusCode, 204)
  })

  test('may not show the nonce of somebody else', async (t) => {
    const server = await servers(allowed)
    const person = await staleSession(t, server)
    const other = await newPerson(server.app)
    const nonce = await nonceOf(server, other)
    const response = await remove(server.app, person, { nonce })
    assert.deepEqual(outcomeOf(response), [422, 'reauthentication_not_valid'])
  })

  test('who guess at the password are slowed like everybody', async (t) => {
    const server = await servers(allowed)
    const person = await staleSession(t, server)
    for (let guess = 0; guess < 10; guess++) {
      const response = await remove(server.app, person, { password: `guess ${guess}` })
      assert.equal(response.statusCode, 400)
    }
    const response = await remove(server.app, person, { password })
    assert.deepEqual(outcomeOf(response), [429, 'over_request_rate_limit'])
    assert.ok(await exists(server.app, person.user.id))
  })

  test('with a second factor prove it first, however young the sign-in', async (t) => {
    const server = await servers(allowed)
    const { app } = server
    const person = await staleSession(t, server)
    const raised = await prove(app, person, await addTotp(app, person))
    const low = await signedIn(app, person.email)
    assert.deepEqual(outcomeOf(await remove(app, low, { password })), [401, 'insufficient_aal'])
    assert.equal((await remove(app, raised)).statusCode, 204)
  })

  test('without an address need nothing but their session', async () => {
    const { app } = await servers({ ...allowed, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const guest = await anonymousPerson(app)
    assert.equal((await remove(app, guest)).statusCode, 204)
    assert.equal(await exists(app, guest.user.id), false)
  })

  test('who were nobody in particular until just now show who they are', async () => {
    const { app } = await servers({ ...allowed, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const person = await anonymousPerson(app)
    const proven = { email: newAddress(), email_confirm: true }
    await adminCall(app, 'PUT', `/admin/users/${person.user.id}`, proven)
    assert.deepEqual(outcomeOf(await remove(app, person)), [400, 'reauthentication_needed'])
  })

  test('of an organization are deleted there', async () => {
    const { app } = await servers(allowed)
    const person = await newPerson(app)
    const managed = { is_sso_user: true }
    await app.db.updateTable('users').set(managed).where('id', '=', person.user.id).execute()
    assert.deepEqual(outcomeOf(await remove(app, person)), [422, 'user_sso_managed'])
  })

  test('ten times at once are deleted once', async () => {
    const { app } = await servers(allowed)
    const person = await newPerson(app)
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(app, person)))
    const statuses = answers.map(({ statusCode }) => statusCode).toSorted()
    assert.deepEqual(statuses, [204, ...Array.from({ length: 9 }, () => 403)])
  })
})
