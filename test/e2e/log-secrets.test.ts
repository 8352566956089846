/** The log of a whole user journey with errors at level debug: it contains no secret. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import { codeIn, linkIn } from '../support/messages/mail-links.ts'
import type { ReceivedMail } from '../support/messages/mail-server.ts'
import { build } from '../support/server.ts'

const email = 'unmistakable.user@example.com'
const password = 'the-first-secret-of-all'
const verifier = 'a-verifier-that-only-the-client-knows-0123456789'
const challenge = createHash('sha256').update(verifier).digest('base64url')

suite('log of a user journey', () => {
  test('contains no credential, and no email at level info or above', async (t) => {
    const { lines, secrets } = await journey(t)

    assert.ok(lines.length > 50)
    const log = lines.join('\n')
    for (const [name, secret] of Object.entries(secrets)) {
      assert.ok(secret.length >= 6, `${name} is empty`)
      assert.ok(!log.includes(secret), `${name} is in the log: ${lineWith(lines, secret)}`)
    }
    const loud = lines.filter((line) => JSON.parse(line).level !== 'debug')
    assert.ok(loud.length > 20)
    assert.equal(lineWith(loud, 'unmistakable'), undefined)
  })
})

const lineWith = (lines: string[], text: string) => lines.find((line) => line.includes(text))

/** Signs up, confirms, signs in, refreshes, changes and recovers, with a failure of each. */
async function journey(t: TestContext) {
  const lines: string[] = []
  const { app, mail } = await build(t, { lines })
  const secrets: Record<string, string> = { password, verifier, challenge }

  const store = (name: string, secret: unknown) => {
    assert.equal(typeof secret, 'string', name)
    secrets[name] = String(secret)
  }
  const post = (url: string, payload: object | string, token?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    return app.inject({ method: 'POST', url, payload, headers })
  }
  const storeSession = (name: string, session: Record<string, unknown>) => {
    store(`${name}: access token`, session.access_token)
    store(`${name}: refresh token`, session.refresh_token)
  }
  const storeEmail = (name: string, message: ReceivedMail) => {
    store(`${name}: code`, codeIn(message))
    store(`${name}: link token`, new URL(linkIn(message)).searchParams.get('token'))
    mail.messages.length = 0
  }
  const pkce = { code_challenge: challenge, code_challenge_method: 's256' }

  await post('/signup', { email, password, ...pkce })
  await post('/signup', `{"email":"${email}","password":"${password}"`)
  await post('/signup', { email, password: { nested: password } })
  const confirmation = await mail.waitFor(email)
  const { search } = new URL(linkIn(confirmation))
  storeEmail('confirmation', confirmation)
  await app.inject({ url: `/no-such-path${search}` })
  await app.inject({ method: 'DELETE', url: `/verify${search}` })
  const opened = await app.inject({ url: `/verify${search}` })
  const code = new URL(String(opened.headers.location)).searchParams.get('code')
  store('auth code', code)
  await app.inject({ url: `/verify${search}` })
  await post('/token?grant_type=pkce', { auth_code: code, code_verifier: `${verifier}x` })
  const exchanged = await post('/token?grant_type=pkce', {
    auth_code: code,
    code_verifier: verifier,
  })
  storeSession('exchange', exchanged.json())

  const wrong = 'the-wrong-secret-of-all'
  store('wrong password', wrong)
  await post('/token?grant_type=password', { email, password: wrong })
  const signedIn = (await post('/token?grant_type=password', { email, password })).json()
  storeSession('sign-in', signedIn)
  const { refresh_token } = signedIn
  const refreshed = (await post('/token?grant_type=refresh_token', { refresh_token })).json()
  storeSession('refresh', refreshed)
  await post('/token?grant_type=refresh_token', { refresh_token: `${refresh_token}x` })

  const headers = { authorization: `Bearer ${signedIn.access_token}` }
  await app.inject({ url: '/user', headers })
  await app.inject({ url: '/user', headers: { authorization: `${headers.authorization}x` } })
  const changed = 'the-second-secret-of-all'
  store('new password', changed)
  await app.inject({ method: 'PUT', url: '/user', headers, payload: { password: changed } })

  await post('/recover', { email })
  storeEmail('recovery', await mail.waitFor(email))
  const token = secrets['recovery: code']
  await post('/verify', { type: 'recovery', email, token: '000000' })
  const recovered = (await post('/verify', { type: 'recovery', email, token })).json()
  storeSession('recovery', recovered)

  const stored = await app.db
    .selectFrom('users')
    .innerJoin('sessions', 'sessions.user_id', 'users.id')
    .select(['encrypted_password', 'refresh_token_hmac_key'])
    .executeTakeFirstOrThrow()
  store('password hash', stored.encrypted_password)
  store('session key', stored.refresh_token_hmac_key)
  await app.db.schema.dropTable('audit_log_entries').execute()
  const failed = await post('/logout', {}, recovered.access_token)
  assert.equal(failed.statusCode, 500)
  assert.deepEqual(Object.keys(failed.json()).sort(), ['code', 'error_code', 'error_id', 'msg'])
  assert.doesNotMatch(failed.body, /relation|audit_log/)
  await app.close()
  return { lines, secrets }
}
