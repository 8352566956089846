/** Another password: what has to be shown for it, and what ends with the old one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { idle, landing, mailAfter, nextMail, open } from '../../support/mail-journeys.ts'
import { codeIn } from '../../support/mail-links.ts'
import { confirmedPerson, newAddress, password, signIn } from '../../support/people.ts'
import { call, changeUser, verify } from '../../support/requests.ts'
import { sharedServers } from '../../support/shared-servers.ts'

const other = 'something else entirely'

suite('a new password', () => {
  const servers = sharedServers()

  test('works, the old one does not, and this session stays', async () => {
    const server = await servers()
    const { access_token: token, refresh_token, user } = await confirmedPerson(server)
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

  test('ends every other session, and every link and code on its way', async () => {
    const server = await servers()
    const { app } = server
    const { access_token: token, user } = await confirmedPerson(server)
    const elsewhere = (await signIn(app, { email: user.email })).json<Session>()
    const { email } = user
    const link = await mailAfter(server, email, () => call(app, '/recover', { email }))
    await changeUser(server.app, token, { password: other })

    const seen = await call(app, '/user', undefined, { token: elsewhere.access_token })
    assert.equal(seen.statusCode, 403)
    assert.equal(seen.json().error_code, 'session_not_found')
    const { refresh_token } = elsewhere
    const refreshed = await call(app, '/token?grant_type=refresh_token', { refresh_token })
    assert.equal(refreshed.statusCode, 400)
    assert.equal(refreshed.json().error_code, 'refresh_token_not_found')
    assert.equal(landing(await open(app, link)).fragment.error_code, 'otp_expired')
  })

  test('is recorded, and told to the person where the operator wants that', async () => {
    const env = { AUTH_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true' }
    const server = await servers(env)
    const { access_token: token, user } = await confirmedPerson(server)
    const since = server.mail.messages.length
    await changeUser(server.app, token, { password: other })
    const told = await nextMail(server, user.email, since)
    assert.equal(told.mail.subject, 'Your password was changed')
    const { rows } = await server.app.pool.query(
      `select payload ->> 'action' as action from auth.audit_log_entries
        where payload ->> 'actor_id' = $1 order by created_at`,
      [user.id],
    )
    const actions = rows.map(({ action }) => action)
    assert.ok(actions.includes('user_updated_password') && actions.includes('user_modified'))
  })

  test('is not told to anybody by default', async () => {
    const server = await servers()
    const { access_token: token } = await confirmedPerson(server)
    const since = server.mail.messages.length
    await changeUser(server.app, token, { password: other })
    await idle(server)
    assert.equal(server.mail.messages.length, since)
  })

  const refusals: { body: object; status: number; code: string }[] = [
    { body: { password: '' }, status: 422, code: 'weak_password' },
    { body: { password: 'short' }, status: 422, code: 'weak_password' },
    { body: { password: 'x'.repeat(1025) }, status: 400, code: 'validation_failed' },
    { body: { password }, status: 422, code: 'same_password' },
    { body: { password: 7 }, status: 400, code: 'bad_json' },
    { body: { app_metadata: { role: 'admin' } }, status: 403, code: 'not_admin' },
    { body: { email: 'nonsense' }, status: 400, code: 'validation_failed' },
    { body: { email: newAddress(), code_challenge: 'x' }, status: 400, code: 'validation_failed' },
  ]
  for (const { body, status, code } of refusals) {
    test(`${JSON.stringify(body).slice(0, 60)}: ${status} ${code}, and nothing changed`, async () => {
      const server = await servers()
      const { access_token: token, user } = await confirmedPerson(server)
      const response = await changeUser(server.app, token, { data: { changed: true }, ...body })
      assert.equal(response.statusCode, status, response.body)
      assert.equal(response.json().error_code, code)
      const now = (await call(server.app, '/user', undefined, { token })).json<User>()
      assert.equal(now.user_metadata.changed, undefined)
      assert.equal((await signIn(server.app, { email: user.email })).statusCode, 200)
    })
  }

  test('people whose accounts their company manages, and people with a second factor they did not show', async () => {
    const server = await servers()
    const { app } = server
    const { access_token: token, user } = await confirmedPerson(server)
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

  test('without a token there is nothing to change', async () => {
    const { app } = await servers()
    const response = await call(app, '/user', { data: {} }, { method: 'PUT' })
    assert.equal(response.statusCode, 401)
  })
})

suite('a password that needs the current one', () => {
  const servers = sharedServers()
  const env = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true' }

  /** Signed in by password: the session of a sign-up's link would not be asked. */
  test('is set with it', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await confirmedPerson(server)
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

  test('cannot be guessed at with somebody else’s session', async () => {
    const server = await servers(env)
    const { access_token: token, user } = await confirmedPerson(server)
    const statuses = []
    for (let guess = 0; guess < 11; guess++) {
      const body = { password: other, current_password: `guess ${guess}` }
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

  test('is no guess where the current one is right, however often', async () => {
    const server = await servers(env)
    const { access_token: token } = await confirmedPerson(server)
    const passwords = Array.from({ length: 12 }, (_, index) => `${password} ${index}`)
    let current = password
    for (const next of passwords) {
      const body = { password: next, current_password: current }
      const response = await changeUser(server.app, token, body)
      assert.equal(response.statusCode, 200, response.body)
      current = next
    }
  })

  test('is set without by whoever came by mail, or has none yet', async () => {
    const server = await servers(env)
    const { email } = (await confirmedPerson(server)).user
    const ask = () => call(server.app, '/recover', { email })
    const token = codeIn(await mailAfter(server, email, ask))
    const recovered = await verify(server.app, { type: 'recovery', email, token })
    const { access_token } = recovered.json<Session>()
    assert.equal((await changeUser(server.app, access_token, { password: other })).statusCode, 200)

    const fresh = newAddress()
    const code = codeIn(
      await mailAfter(server, fresh, () => call(server.app, '/otp', { email: fresh })),
    )
    const session = (await verify(server.app, { type: 'email', email: fresh, token: code })).json()
    assert.equal(
      (await changeUser(server.app, session.access_token, { password: other })).statusCode,
      200,
    )
  })
})
