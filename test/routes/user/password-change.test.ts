/** Password changes: required credentials and revoked sessions. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import {
  emailAfter,
  nextEmail,
  open,
  redirectParams,
  waitForIdleQueue,
} from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, verify } from '../../support/requests.ts'
import { confirmedUser, newAddress, password, signIn } from '../../support/users.ts'

const other = 'something else entirely'

suite('PUT /user with a new password', () => {
  const servers = sharedServers()

  test('replaces the password and keeps the current session', async () => {
    const server = await servers()
    const { access_token: token, refresh_token, user } = await confirmedUser(server)
    const response = await changeUser(server.app, token, { password: other })
    assert.equal(response.statusCode, 200, response.body)
    assert.equal(response.json<User>().id, user.id)
    assert.equal((await signIn(server.app, { email: user.email, password: other })).statusCode, 200)
    assert.equal(
      (await signIn(server.app, { email: user.email })).json().error_code,
      'invalid_credentials',
    )
    const refreshed = await call(server.app, '/token?grant_type=refresh_token', { refresh_token })
    assert.equal(refreshed.statusCode, 200)
  })

  test('revokes other sessions, links and codes', async () => {
    const server = await servers()
    const { app } = server
    const { access_token: token, user } = await confirmedUser(server)
    const otherServer = (await signIn(app, { email: user.email })).json<Session>()
    const { email } = user
    const link = await emailAfter(server, email, () => call(app, '/recover', { email }))
    await changeUser(server.app, token, { password: other })

    const seen = await call(app, '/user', undefined, { token: otherServer.access_token })
    assert.equal(seen.statusCode, 403)
    assert.equal(seen.json().error_code, 'session_not_found')
    const { refresh_token } = otherServer
    const refreshed = await call(app, '/token?grant_type=refresh_token', { refresh_token })
    assert.equal(refreshed.statusCode, 400)
    assert.equal(refreshed.json().error_code, 'refresh_token_not_found')
    assert.equal(redirectParams(await open(app, link)).fragment.error_code, 'otp_expired')
  })

  test('records the change and notifies the user when configured', async () => {
    const env = { AUTH_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true' }
    const server = await servers(env)
    const { access_token: token, user } = await confirmedUser(server)
    const since = server.mail.messages.length
    await changeUser(server.app, token, { password: other })
    const reported = await nextEmail(server, user.email, since)
    assert.equal(reported.mail.subject, 'Your password was changed')
    const { rows } = await server.app.pool.query(
      `select payload ->> 'action' as action from auth.audit_log_entries
        where payload ->> 'actor_id' = $1 order by created_at`,
      [user.id],
    )
    const actions = rows.map(({ action }) => action)
    assert.ok(actions.includes('user_updated_password') && actions.includes('user_modified'))
  })

  test('does not notify the user by default', async () => {
    const server = await servers()
    const { access_token: token } = await confirmedUser(server)
    const since = server.mail.messages.length
    await changeUser(server.app, token, { password: other })
    await waitForIdleQueue(server)
    assert.equal(server.mail.messages.length, since)
  })

  const rejections: { body: object; status: number; code: string }[] = [
    { body: { password: '' }, status: 422, code: 'weak_password' },
    { body: { password: 'short' }, status: 422, code: 'weak_password' },
    { body: { password: 'x'.repeat(1025) }, status: 400, code: 'validation_failed' },
    { body: { password }, status: 422, code: 'same_password' },
    { body: { password: 7 }, status: 400, code: 'bad_json' },
    { body: { app_metadata: { role: 'admin' } }, status: 403, code: 'not_admin' },
    { body: { email: 'nonsense' }, status: 400, code: 'validation_failed' },
    { body: { email: newAddress(), code_challenge: 'x' }, status: 400, code: 'validation_failed' },
  ]
  for (const { body, status, code } of rejections) {
    test(`${JSON.stringify(body).slice(0, 60)}: returns ${status} ${code} and changes nothing`, async () => {
      const server = await servers()
      const { access_token: token, user } = await confirmedUser(server)
      const response = await changeUser(server.app, token, { data: { changed: true }, ...body })
      assert.equal(response.statusCode, status, response.body)
      assert.equal(response.json().error_code, code)
      const now = (await call(server.app, '/user', undefined, { token })).json<User>()
      assert.equal(now.user_metadata.changed, undefined)
      assert.equal((await signIn(server.app, { email: user.email })).statusCode, 200)
    })
  }

  test('rejects SSO users, and users with a factor at aal1', async () => {
    const server = await servers()
    const { app } = server
    const { access_token: token, user } = await confirmedUser(server)
    const factor = {
      id: crypto.randomUUID(),
      user_id: user.id,
      factor_type: 'totp' as const,
      status: 'verified' as const,
      created_at: new Date(),
      updated_at: new Date(),
      secret: '',
      friendly_name: '',
      phone: null,
      last_challenged_at: null,
      web_authn_aaguid: null,
    }
    await app.db.insertInto('mfa_factors').values(factor).execute()
    for (const body of [{ password: other }, { email: newAddress() }]) {
      const response = await changeUser(server.app, token, body)
      assert.deepEqual([response.statusCode, response.json().error_code], [401, 'insufficient_aal'])
      assert.equal(
        response.json().msg,
        'AAL2 session is required to update email or password when MFA is enabled.',
      )
    }
    assert.equal((await changeUser(server.app, token, { data: { a: 1 } })).statusCode, 200)

    await app.db.deleteFrom('mfa_factors').where('user_id', '=', user.id).execute()
    await app.db.updateTable('users').set({ is_sso_user: true }).where('id', '=', user.id).execute()
    for (const body of [{ password: other }, { email: newAddress() }, { nonce: '123456' }]) {
      const response = await changeUser(server.app, token, body)
      assert.deepEqual([response.statusCode, response.json().error_code], [422, 'user_sso_managed'])
    }
    assert.equal((await changeUser(server.app, token, { data: { a: 2 } })).statusCode, 200)
  })

  test('rejects a request without a token', async () => {
    const { app } = await servers()
    const response = await call(app, '/user', { data: {} }, { method: 'PUT' })
    assert.equal(response.statusCode, 401)
  })
})

suite('AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD', () => {
  const servers = sharedServers()
  const env = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true' }

  /** Signed in by password: a session created by a link would not need the current one. */
  test('requires the current password', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await confirmedUser(server)
    const attempts = [
      { body: {}, code: 'current_password_required' },
      { body: { current_password: 'wrong' }, code: 'current_password_invalid' },
      { body: { current_password: other }, code: 'current_password_invalid' },
    ]
    for (const { body, code } of attempts) {
      const response = await changeUser(server.app, token, { password: other, ...body })
      assert.deepEqual([response.statusCode, response.json().error_code], [400, code])
    }
    const body = { password: other, current_password: password }
    assert.equal((await changeUser(server.app, token, body)).statusCode, 200)
    assert.equal((await signIn(server.app, { email: user.email, password: other })).statusCode, 200)
  })

  test('throttles wrong attempts without throttling sign-ins', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await confirmedUser(server)
    const statuses = []
    for (let attempt = 0; attempt < 11; attempt++) {
      const body = { password: other, current_password: `guess ${attempt}` }
      statuses.push((await changeUser(server.app, token, body)).statusCode)
    }
    assert.deepEqual(new Set(statuses.slice(0, 10)), new Set([400]))
    assert.equal(statuses[10], 429)
    assert.equal(
      (await signIn(server.app, { email: user.email })).statusCode,
      200,
      'signing in is not slowed',
    )
  })

  test('does not throttle correct attempts', async () => {
    const server = await servers(env)
    const { access_token: token } = await confirmedUser(server)
    const passwords = Array.from({ length: 12 }, (_, index) => `${password} ${index}`)
    let current = password
    for (const next of passwords) {
      const body = { password: next, current_password: current }
      const response = await changeUser(server.app, token, body)
      assert.equal(response.statusCode, 200, response.body)
      current = next
    }
  })

  test('does not require the current password after a recovery or for users without a password', async () => {
    const server = await servers(env)
    const { email } = (await confirmedUser(server)).user
    const send = () => call(server.app, '/recover', { email })
    const token = codeIn(await emailAfter(server, email, send))
    const recovered = await verify(server.app, { type: 'recovery', email, token })
    const { access_token } = recovered.json<Session>()
    assert.equal((await changeUser(server.app, access_token, { password: other })).statusCode, 200)

    const fresh = newAddress()
    const code = codeIn(
      await emailAfter(server, fresh, () => call(server.app, '/otp', { email: fresh })),
    )
    const session = (await verify(server.app, { type: 'email', email: fresh, token: code })).json()
    assert.equal(
      (await changeUser(server.app, session.access_token, { password: other })).statusCode,
      200,
    )
  })
})
