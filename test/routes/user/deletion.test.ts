/** DELETE /user: deletion of the current user, and who is rejected. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { addTotp, stepUp } from '../../support/factors/factors.ts'
import { emailAfter, nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, getUser, refresh, statusAndCode } from '../../support/requests.ts'
import type { App, Built } from '../../support/server.ts'
import {
  anonymousUser,
  autoconfirm,
  newAddress,
  password,
  signedIn,
  signIn,
  signUp,
  signUpUser,
} from '../../support/users.ts'
import { allEvents, typesIn } from '../../support/webhooks/events.ts'

const allowed = { ...autoconfirm, AUTH_USER_SELF_DELETE_ENABLED: 'true' }

const remove = (
  app: App,
  { access_token: token }: Pick<Session, 'access_token'>,
  verification?: object,
) => call(app, '/user', verification, { method: 'DELETE', token })

const exists = async ({ db }: App, id: string) =>
  (await db.selectFrom('users').select('id').where('id', '=', id).execute()).length === 1

/** A user who signed in eleven minutes ago. */
async function staleSession(t: TestContext, { app }: Built) {
  const user = await signUpUser(app)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 })
  return user
}

async function fetchNonce(
  server: Built,
  { access_token: token, email }: Session & { email: string },
) {
  const send = () => call(server.app, '/reauthenticate', undefined, { token })
  return codeIn(await emailAfter(server, email, send))
}

suite('DELETE /user', () => {
  const servers = sharedServers()

  test('returns 404 feature_disabled by default', async () => {
    const { app } = await servers(autoconfirm)
    const user = await signUpUser(app)
    assert.deepEqual(statusAndCode(await remove(app, user)), [404, 'feature_disabled'])
    assert.ok(await exists(app, user.user.id))
  })

  test('returns 409 while another table references the user, without naming it', async () => {
    const { app } = await servers(allowed)
    const user = await signUpUser(app)
    await app.pool.query(
      'create table public.invoices (user_id uuid references auth.users (id)); ' +
        `insert into public.invoices values ('${user.user.id}')`,
    )
    const response = await remove(app, user)
    assert.deepEqual(statusAndCode(response), [409, 'conflict'])
    assert.doesNotMatch(response.body, /invoices/)
    assert.ok(await exists(app, user.user.id))
    await app.pool.query('drop table public.invoices')
  })

  test('requires a token', async () => {
    const { app } = await servers(allowed)
    assert.equal((await app.inject({ method: 'DELETE', url: '/user' })).statusCode, 401)
  })

  test('deletes a user who signed in recently, with all sessions', async () => {
    const { app } = await servers({ ...allowed, AUTH_EVENTS_ENABLED: 'true' })
    const user = await signUpUser(app)
    const other = await signedIn(app, user.email)
    const response = await remove(app, user)
    assert.equal(response.statusCode, 204)
    assert.equal(response.body, '')

    assert.equal(await exists(app, user.user.id), false)
    for (const session of [user, other]) {
      assert.equal((await getUser(app, session)).statusCode, 403)
      assert.equal((await refresh(app, session.refresh_token)).statusCode, 400)
    }
    const { email } = user
    assert.deepEqual(statusAndCode(await signIn(app, { email })), [400, 'invalid_credentials'])
    const events = (await allEvents(app, user.user.id, 7)).slice(4)
    assert.deepEqual(typesIn(events), ['session.revoked', 'session.revoked', 'user.deleted'])
    assert.equal(events.at(-1)?.data.soft, false)
    const again: Session = (await signUp(app, { email })).json()
    assert.notEqual(again.user.id, user.user.id)
  })

  test('records the user as actor in the audit log', async () => {
    const { app } = await servers(allowed)
    const user = await signUpUser(app)
    await remove(app, user)
    const entries = await adminCall<{ payload: Record<string, unknown> }[]>(
      app,
      'GET',
      '/admin/audit?query=action:user_deleted',
    )
    const entry = entries.find(({ payload }) => payload.actor_id === user.user.id)
    assert.equal(entry?.payload.actor_username, user.email)
  })

  test('notifies the user by email when configured', async () => {
    const flag = 'AUTH_MAILER_NOTIFICATIONS_ACCOUNT_DELETED_ENABLED'
    const server = await servers({ ...allowed, [flag]: 'true' })
    const user = await signUpUser(server.app)
    assert.equal((await remove(server.app, user)).statusCode, 204)
    const { mail } = await nextEmail(server, user.email)
    assert.equal(mail.subject, 'Your account was deleted')
    assert.ok(mail.text?.includes(user.email))
  })

  test('requires reauthentication after ten minutes', async (t) => {
    const server = await servers(allowed)
    const { app } = server
    const user = await staleSession(t, server)
    const code = await fetchNonce(server, user)
    const wrong = code === '123456' ? '654321' : '123456'
    const rejections: [proof: object | undefined, status: number, code: string][] = [
      [undefined, 400, 'reauthentication_needed'],
      [{}, 400, 'reauthentication_needed'],
      [{ nonce: '', password: '' }, 400, 'reauthentication_needed'],
      [{ password: 'not this one' }, 400, 'current_password_invalid'],
      [{ nonce: wrong }, 422, 'reauthentication_not_valid'],
      // A wrong nonce is rejected whatever else is sent.
      [{ nonce: wrong, password }, 422, 'reauthentication_not_valid'],
    ]
    for (const [verification, ...outcome] of rejections) {
      assert.deepEqual(
        statusAndCode(await remove(app, user, verification)),
        outcome,
        JSON.stringify(verification),
      )
    }
    assert.ok(await exists(app, user.user.id))
    assert.equal((await remove(app, user, { nonce: code })).statusCode, 204)
    assert.equal(await exists(app, user.user.id), false)
  })

  test('accepts the password as reauthentication', async (t) => {
    const server = await servers(allowed)
    const user = await staleSession(t, server)
    assert.equal((await remove(server.app, user, { password })).statusCode, 204)
  })

  test('rejects the nonce of another user', async (t) => {
    const server = await servers(allowed)
    const user = await staleSession(t, server)
    const other = await signUpUser(server.app)
    const nonce = await fetchNonce(server, other)
    const response = await remove(server.app, user, { nonce })
    assert.deepEqual(statusAndCode(response), [422, 'reauthentication_not_valid'])
  })

  test('throttles password attempts', async (t) => {
    const server = await servers(allowed)
    const user = await staleSession(t, server)
    for (let attempt = 0; attempt < 10; attempt++) {
      const response = await remove(server.app, user, { password: `guess ${attempt}` })
      assert.equal(response.statusCode, 400)
    }
    const response = await remove(server.app, user, { password })
    assert.deepEqual(statusAndCode(response), [429, 'over_request_rate_limit'])
    assert.ok(await exists(server.app, user.user.id))
  })

  test('requires aal2 from a user with a factor, also after a recent sign-in', async (t) => {
    const server = await servers(allowed)
    const { app } = server
    const user = await staleSession(t, server)
    const young = await signedIn(app, user.email)
    const steppedUp = await stepUp(app, young, await addTotp(app, young))
    const aal1 = await signedIn(app, user.email)
    assert.deepEqual(statusAndCode(await remove(app, aal1, { password })), [
      401,
      'insufficient_aal',
    ])
    assert.equal((await remove(app, steppedUp)).statusCode, 204)
  })

  test('deletes an anonymous user without reauthentication', async () => {
    const { app } = await servers({ ...allowed, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const guest = await anonymousUser(app)
    assert.equal((await remove(app, guest)).statusCode, 204)
    assert.equal(await exists(app, guest.user.id), false)
  })

  test('requires reauthentication from a user who was anonymous at sign-in', async () => {
    const { app } = await servers({ ...allowed, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const user = await anonymousUser(app)
    const verified = { email: newAddress(), email_confirm: true }
    await adminCall(app, 'PUT', `/admin/users/${user.user.id}`, verified)
    assert.deepEqual(statusAndCode(await remove(app, user)), [400, 'reauthentication_needed'])
  })

  test('rejects users managed by SSO', async () => {
    const { app } = await servers(allowed)
    const user = await signUpUser(app)
    const managed = { is_sso_user: true }
    await app.db.updateTable('users').set(managed).where('id', '=', user.user.id).execute()
    assert.deepEqual(statusAndCode(await remove(app, user)), [422, 'user_sso_managed'])
  })

  test('deletes once when ten requests race', async () => {
    const { app } = await servers(allowed)
    const user = await signUpUser(app)
    const responses = await Promise.all(Array.from({ length: 10 }, () => remove(app, user)))
    const statuses = responses.map(({ statusCode }) => statusCode).toSorted()
    assert.deepEqual(statuses, [204, ...Array.from({ length: 9 }, () => 403)])
  })
})
