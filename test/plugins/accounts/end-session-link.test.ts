/** The link, in the mail that tells of a sign-in from a new device, that ends that session. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { allEvents } from '../../support/events.ts'
import { mailAfter, nextMail } from '../../support/mail-journeys.ts'
import { signIn } from '../../support/people.ts'
import { getUser, outcomeOf, verify } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { sharedServers } from '../../support/shared-servers.ts'
import { alerting, laptopPerson, phone, signInFrom } from './device-alerts.ts'

suite('the link that ends a session', () => {
  const servers = sharedServers()

  /** Somebody at their laptop, whose account was entered by a phone; and the address of the link. */
  async function alerted(server: Built) {
    const owner = await laptopPerson(server)
    const stranger = await signInFrom(server, owner.email, phone)
    const message = await nextMail(server, owner.email)
    const link = /http:\/\/auth\.example(\/sessions\/end\?token=\S+)/.exec(message.mail.text ?? '')
    return { owner, stranger, path: link?.[1] ?? assert.fail('the mail has no link') }
  }

  const tokenIn = (path: string) => path.slice(path.indexOf('=') + 1)

  function press({ app }: Built, token: string, headers: Record<string, string> = {}) {
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
    const payload = new URLSearchParams({ token }).toString()
    return app.inject({ method: 'POST', url: '/sessions/end', headers: form, payload })
  }

  const isLive = async ({ app }: Built, session: Session) =>
    (await getUser(app, session)).statusCode === 200

  test('shows a button and ends nothing, however often and by whatever it is opened', async () => {
    const server = await servers(alerting)
    const { stranger, path } = await alerted(server)
    for (const method of ['GET', 'HEAD', 'GET'] as const) {
      const page = await server.app.inject({ method, url: path })
      assert.equal(page.statusCode, 200)
      assert.match(String(page.headers['content-type']), /^text\/html/)
      assert.equal(page.headers['referrer-policy'], 'no-referrer')
      assert.equal(page.headers['cache-control'], 'no-store')
    }
    const { body } = await server.app.inject(path)
    assert.ok(body.includes(`name="token" value="${tokenIn(path)}"`), body)
    assert.ok(await isLive(server, stranger))
  })

  test('ends that session and no other, and says so as often as the button is pressed', async () => {
    const server = await servers({ ...alerting, AUTH_EVENTS_ENABLED: 'true' })
    const { owner, stranger, path } = await alerted(server)
    for (const _ of [1, 2]) {
      const page = await press(server, tokenIn(path))
      assert.equal(page.statusCode, 200)
      assert.match(page.body, /The session has ended/)
    }
    assert.deepEqual(outcomeOf(await getUser(server.app, stranger)), [403, 'session_not_found'])
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

  test('is for that alone: it opens nothing, and no other token ends a session', async () => {
    const server = await servers(alerting)
    const { owner, stranger, path } = await alerted(server)
    const token = tokenIn(path)
    const tried = await verify(server.app, { type: 'magiclink', token_hash: token })
    assert.notEqual(tried.statusCode, 200)
    assert.equal((await getUser(server.app, { access_token: token })).statusCode, 403)
    for (const other of [owner.access_token, owner.refresh_token, stranger.refresh_token]) {
      assert.equal((await press(server, other)).statusCode, 400)
    }
    assert.ok(await isLive(server, owner))
    assert.ok(await isLive(server, stranger))
  })

  test('does nothing when a letter of it was changed, left out or added', async () => {
    const server = await servers(alerting)
    const { stranger, path } = await alerted(server)
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
    assert.ok(await isLive(server, stranger))
  })

  test('expires after a week', async (t: TestContext) => {
    const server = await servers(alerting)
    const { stranger, path } = await alerted(server)
    const started = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: started + 7 * 86_400_000 + 1000 })
    assert.equal((await press(server, tokenIn(path))).statusCode, 400)
    assert.equal((await server.app.inject(path)).statusCode, 400)
    t.mock.timers.setTime(started + 7 * 86_400_000 - 60_000)
    assert.equal((await press(server, tokenIn(path))).statusCode, 200)
    t.mock.timers.reset()
    assert.equal(await isLive(server, stranger), false)
  })

  test('works while its key is an older one, and is of no use on another server', async (t) => {
    const oldKey = randomBytes(32).toString('base64url')
    const first = await build(t, { env: { ...alerting, AUTH_ENCRYPTION_KEY: oldKey } })
    const { stranger, path } = await alerted(first)
    const elsewhere = await servers(alerting)
    assert.equal((await press(elsewhere, tokenIn(path))).statusCode, 400)
    const keys = {
      AUTH_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
      AUTH_ENCRYPTION_OLD_KEYS: oldKey,
    }
    const second = await build(t, { env: { ...alerting, ...keys }, database: first.database })
    assert.equal((await press(second, tokenIn(path))).statusCode, 200)
    assert.equal(await isLive(second, stranger), false)
  })

  test('is a page in the language of whoever opens it', async () => {
    const server = await servers(alerting)
    const { path } = await alerted(server)
    const headers = { 'accept-language': 'ar' }
    const { body } = await server.app.inject({ url: path, headers })
    assert.match(body, /<html lang="ar" dir="rtl">/)
    assert.match((await press(server, tokenIn(path), headers)).body, /dir="rtl"/)
  })

  test('is below the path of a server that has one', async (t) => {
    const env = { ...alerting, AUTH_API_EXTERNAL_URL: 'https://example.com/auth/v1/' }
    const server = await build(t, { env })
    const { email } = await laptopPerson(server)
    const message = await mailAfter(server, email, () => signIn(server.app, { email }, phone))
    assert.match(message.mail.text ?? '', /https:\/\/example\.com\/auth\/v1\/sessions\/end\?token=/)
  })
})
