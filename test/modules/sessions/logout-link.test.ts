/** The link in a new-device email that revokes the session. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { emailAfter, nextEmail } from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { getUser, statusAndCode, verify } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { signIn } from '../../support/users.ts'
import { allEvents } from '../../support/webhooks/events.ts'
import { alerting, laptopUser, phone, signInFrom } from './device-alerts.ts'

suite('logout link', () => {
  const servers = sharedServers()

  /** A user on a laptop, an attacker who signed in on a phone, and the path of the link. */
  async function alerted(server: Built) {
    const owner = await laptopUser(server)
    const attacker = await signInFrom(server, owner.email, phone)
    const message = await nextEmail(server, owner.email)
    const link = /http:\/\/auth\.example(\/sessions\/end\?token=\S+)/.exec(message.mail.text ?? '')
    return { owner, attacker, path: link?.[1] ?? assert.fail('the mail has no link') }
  }

  const tokenIn = (path: string) => path.slice(path.indexOf('=') + 1)

  function press({ app }: Built, token: string, headers: Record<string, string> = {}) {
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
    const payload = new URLSearchParams({ token }).toString()
    return app.inject({ method: 'POST', url: '/sessions/end', headers: form, payload })
  }

  const isLive = async ({ app }: Built, session: Session) =>
    (await getUser(app, session)).statusCode === 200

  test('shows a button and revokes nothing by GET or HEAD', async () => {
    const server = await servers(alerting)
    const { attacker, path } = await alerted(server)
    for (const method of ['GET', 'HEAD', 'GET'] as const) {
      const page = await server.app.inject({ method, url: path })
      assert.equal(page.statusCode, 200)
      assert.match(String(page.headers['content-type']), /^text\/html/)
      assert.equal(page.headers['referrer-policy'], 'no-referrer')
      assert.equal(page.headers['cache-control'], 'no-store')
    }
    const { body } = await server.app.inject(path)
    assert.ok(body.includes(`name="token" value="${tokenIn(path)}"`), body)
    assert.ok(await isLive(server, attacker))
  })

  test('revokes its session only, and reports success repeatedly', async () => {
    const server = await servers({ ...alerting, AUTH_EVENTS_ENABLED: 'true' })
    const { owner, attacker, path } = await alerted(server)
    for (const _ of [1, 2]) {
      const page = await press(server, tokenIn(path))
      assert.equal(page.statusCode, 200)
      assert.match(page.body, /The session has ended/)
    }
    assert.deepEqual(statusAndCode(await getUser(server.app, attacker)), [403, 'session_not_found'])
    assert.ok(await isLive(server, owner))
    const ended = await allEvents(server.app, owner.user.id, 1, 'session.revoked')
    assert.equal(ended.length, 1)
    const trail = await adminCall<{ payload: { action: string; traits?: object } }[]>(
      server.app,
      'GET',
      `/admin/audit?query=author:${owner.email}`,
    )
    const entries = trail.filter(({ payload }) => payload.action === 'logout')
    assert.equal(entries.length, 1)
  })

  test('accepts only logout tokens, which grant no other access', async () => {
    const server = await servers(alerting)
    const { owner, attacker, path } = await alerted(server)
    const token = tokenIn(path)
    const tried = await verify(server.app, { type: 'magiclink', token_hash: token })
    assert.notEqual(tried.statusCode, 200)
    assert.equal((await getUser(server.app, { access_token: token })).statusCode, 403)
    for (const other of [owner.access_token, owner.refresh_token, attacker.refresh_token]) {
      assert.equal((await press(server, other)).statusCode, 400)
    }
    assert.ok(await isLive(server, owner))
    assert.ok(await isLive(server, attacker))
  })

  test('rejects an altered token', async () => {
    const server = await servers(alerting)
    const { attacker, path } = await alerted(server)
    const bytes = Buffer.from(tokenIn(path), 'base64url')
    const changed = Array.from(bytes, (byte, at) => {
      const copy = Buffer.from(bytes)
      copy[at] = byte ^ 1
      return copy
    })
    const others = [...changed, bytes.subarray(1), Buffer.concat([bytes, Buffer.alloc(1)])]
    for (const other of [...others.map((some) => some.toString('base64url')), '', '%']) {
      assert.equal((await press(server, other)).statusCode, 400)
    }
    const page = await server.app.inject('/sessions/end?token=x')
    assert.equal(page.statusCode, 400)
    assert.match(page.body, /This link does not work/)
    assert.doesNotMatch(page.body, /<form/)
    assert.ok(await isLive(server, attacker))
  })

  test('expires after a week', async (t: TestContext) => {
    const server = await servers(alerting)
    const { attacker, path } = await alerted(server)
    const started = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: started + 7 * 86_400_000 + 1000 })
    assert.equal((await press(server, tokenIn(path))).statusCode, 400)
    assert.equal((await server.app.inject(path)).statusCode, 400)
    t.mock.timers.setTime(started + 7 * 86_400_000 - 60_000)
    assert.equal((await press(server, tokenIn(path))).statusCode, 200)
    t.mock.timers.reset()
    assert.equal(await isLive(server, attacker), false)
  })

  test('accepts a token of a previous key and rejects one of another server', async (t) => {
    const oldKey = randomBytes(32).toString('base64url')
    const first = await build(t, { env: { ...alerting, AUTH_ENCRYPTION_KEY: oldKey } })
    const { attacker, path } = await alerted(first)
    const other = await servers(alerting)
    assert.equal((await press(other, tokenIn(path))).statusCode, 400)
    const keys = {
      AUTH_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
      AUTH_ENCRYPTION_OLD_KEYS: oldKey,
    }
    const second = await build(t, { env: { ...alerting, ...keys }, database: first.database })
    assert.equal((await press(second, tokenIn(path))).statusCode, 200)
    assert.equal(await isLive(second, attacker), false)
  })

  test('is shown in the language of the browser', async () => {
    const server = await servers(alerting)
    const { path } = await alerted(server)
    const headers = { 'accept-language': 'ar' }
    const { body } = await server.app.inject({ url: path, headers })
    assert.match(body, /<html lang="ar" dir="rtl">/)
    assert.match((await press(server, tokenIn(path), headers)).body, /dir="rtl"/)
  })

  test('includes the path of the external URL', async (t) => {
    const env = { ...alerting, AUTH_API_EXTERNAL_URL: 'https://example.com/auth/v1/' }
    const server = await build(t, { env })
    const { email } = await laptopUser(server)
    const message = await emailAfter(server, email, () => signIn(server.app, { email }, phone))
    assert.match(message.mail.text ?? '', /https:\/\/example\.com\/auth\/v1\/sessions\/end\?token=/)
  })
})
