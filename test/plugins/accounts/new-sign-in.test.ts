/** The mail that tells of a sign-in from a new device, and the link in it that ends that session. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import { findUser } from '../../../db/users.ts'
import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { allEvents } from '../../support/events.ts'
import { startHookReceiver } from '../../support/hook-receiver.ts'
import { idle, mailAfter, nextMail, open, pkcePair } from '../../support/mail-journeys.ts'
import type { ReceivedMail } from '../../support/mail-server.ts'
import {
  anonymousPerson,
  autoconfirm,
  newAddress,
  password,
  signedIn,
  signIn,
  signUp,
} from '../../support/people.ts'
import { call, getUser, outcomeOf, verify } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { sharedServers } from '../../support/shared-servers.ts'

const alerting = { ...autoconfirm, AUTH_MAILER_NOTIFICATIONS_NEW_SIGN_IN_ENABLED: 'true' }

const windows = (version: number) =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`
const laptop = { 'user-agent': windows(140) }
const phone = {
  'user-agent':
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
}
const subject = 'New sign-in to your account'

/** Somebody who signed up at their laptop. */
async function laptopPerson({ app }: Built): Promise<Session & { email: string }> {
  const email = newAddress()
  const answer = await call(app, '/signup', { email, password }, { headers: laptop })
  assert.equal(answer.statusCode, 200, answer.body)
  return { ...answer.json<Session>(), email }
}

/** The alerts that reached somebody, when nothing is left to be sent. */
async function alertsTo(
  server: Built,
  email: string,
  /** A server that works for the same database sends some of them. */
  also: readonly Built[] = [],
): Promise<ReceivedMail[]> {
  await idle(server)
  const all = [server, ...also].flatMap(({ mail }) => mail.messages)
  return all.filter(({ to, mail }) => to === email && mail.subject === subject)
}

const signInFrom = ({ app }: Built, email: string, headers: Record<string, string>) =>
  signedIn(app, email, headers)

suite('a sign-in from a device', () => {
  const servers = sharedServers()

  test('that is new is mailed, with the device, the address and the time; once', async () => {
    const server = await servers(alerting)
    const { email } = await laptopPerson(server)
    const from = { ...phone, 'x-forwarded-for': '203.0.113.7' }
    const message = await mailAfter(server, email, () => signIn(server.app, { email }, from))

    assert.equal(message.mail.subject, subject)
    assert.match(message.mail.text ?? '', /Device: Chrome, Android/)
    assert.match(message.mail.text ?? '', /IP address: 203\.0\.113\.7/)
    await signInFrom(server, email, phone)
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('is mailed only when the claims hook lets it be, at the first that it lets', async (t) => {
    const receiver = await startHookReceiver(t)
    const server = await build(t, { env: { ...alerting, ...receiver.env('CUSTOM_ACCESS_TOKEN') } })
    receiver.answer(({ claims }) => ({ claims }))
    const { email } = await laptopPerson(server)

    receiver.answer({ error: { http_code: 403, message: 'Not from there' } })
    assert.equal((await signIn(server.app, { email }, phone)).statusCode, 403)
    assert.deepEqual(await alertsTo(server, email), [])

    receiver.answer(({ claims }) => ({ claims }))
    await mailAfter(server, email, () => signIn(server.app, { email }, phone))
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('is not mailed at sign-up, nor for the same device, in whatever version and network', async () => {
    const server = await servers(alerting)
    const { email } = await laptopPerson(server)
    await signInFrom(server, email, laptop)
    await signInFrom(server, email, { 'user-agent': windows(152) })
    await signInFrom(server, email, { ...laptop, 'x-forwarded-for': '198.51.100.3' })
    assert.deepEqual(await alertsTo(server, email), [])
  })

  test('is not mailed for the first sign-in after a sign-up that was confirmed by mail', async () => {
    const server = await servers({ ...alerting, AUTH_MAILER_AUTOCONFIRM: 'false' })
    const email = newAddress()
    const message = await mailAfter(server, email, () => signUp(server.app, { email }))
    await open(server.app, message)
    assert.deepEqual(await alertsTo(server, email), [])
  })

  test('is mailed for a device that was signed out and not known, whatever the door', async () => {
    const server = await servers(alerting)
    const { email } = await laptopPerson(server)
    const { verifier, fields } = pkcePair()
    const asked = { email, ...fields }
    const message = await mailAfter(server, email, () => call(server.app, '/magiclink', asked))
    const { location } = (await open(server.app, message)).headers
    const auth_code = new URL(String(location)).searchParams.get('code')
    const exchange = { auth_code, code_verifier: verifier }
    const url = '/token?grant_type=pkce'
    await mailAfter(server, email, () => call(server.app, url, exchange, { headers: phone }))
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('is told once where ten come at a time', async () => {
    const server = await servers(alerting)
    const { email } = await laptopPerson(server)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => signIn(server.app, { email }, phone)),
    )
    assert.ok(answers.every(({ statusCode }) => statusCode === 200))
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('is told of no more often than twenty devices a day, whatever names somebody makes up', async () => {
    const server = await servers(alerting)
    const { email } = await laptopPerson(server)
    for (const letter of 'abcdefghijklmnopqrstuv') {
      await signInFrom(server, email, { 'user-agent': `app-${letter}/1` })
    }
    // The laptop is one of the twenty.
    assert.equal((await alertsTo(server, email)).length, 19)
  })

  test('that says nothing of itself, or something of its own, is an unknown one', async () => {
    const server = await servers(alerting)
    const { email } = await laptopPerson(server)
    const from = { 'user-agent': 'call +1 555 0100 or see http://evil.example/' }
    const { mail } = await mailAfter(server, email, () => signIn(server.app, { email }, from))
    assert.match(mail.text ?? '', /Device: unknown/)
    assert.doesNotMatch(mail.text ?? '', /evil/)
    assert.doesNotMatch(String(mail.html), /evil/)
  })

  test('is not mailed where the switch is off, and nothing is noted', async () => {
    const server = await servers(autoconfirm)
    const { email } = await laptopPerson(server)
    await signInFrom(server, email, phone)
    assert.deepEqual(await alertsTo(server, email), [])
    const noted = await server.app.db
      .selectFrom('postern_sign_in_devices')
      .select('device')
      .execute()
    assert.deepEqual(noted, [])
  })

  test('by an admin in the place of the person is not mailed, and is no device of theirs', async () => {
    const server = await servers({ ...alerting, AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' })
    const { email, user } = await laptopPerson(server)
    const url = `/admin/users/${user.id}/impersonate`
    await adminCall(server.app, 'POST', url, {})
    assert.deepEqual(await alertsTo(server, email), [])
    // As adminCall calls itself.
    const { userAgent } = await server.app.db
      .selectFrom('sessions')
      .innerJoin('postern_impersonations', 'session_id', 'sessions.id')
      .select('sessions.user_agent as userAgent')
      .where('user_id', '=', user.id)
      .executeTakeFirstOrThrow()
    await signInFrom(server, email, { 'user-agent': userAgent ?? '' })
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('of somebody without an address is no fault', async () => {
    const server = await servers({ ...alerting, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const { user } = await anonymousPerson(server.app)
    const devices = await server.app.db
      .selectFrom('postern_sign_in_devices')
      .select('device')
      .where('user_id', '=', user.id)
      .execute()
    assert.deepEqual(devices, [])
  })

  test('is mailed if its session is stored, and else as if it had not been', async () => {
    const server = await servers(alerting)
    const { app } = server
    const { email, user } = await laptopPerson(server)
    const person = (await findUser(app.db, user.id)) ?? assert.fail()
    const client = { userAgent: phone['user-agent'], ip: null, network: '', tag: null }
    const taken = new Error('taken back')
    const opening = app.db.transaction().execute(async (trx) => {
      await app.sessions.open(trx, person, { method: 'otp', client }, new Date())
      throw taken
    })
    await assert.rejects(opening, taken)
    const stale = { method: 'password', passwordHash: 'another', client } as const
    await assert.rejects(app.sessions.open(app.db, person, stale, new Date()))
    assert.deepEqual(await alertsTo(server, email), [])

    await signInFrom(server, email, phone)
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('that was known before the switch was turned on is known', async (t) => {
    const before = await build(t, { env: autoconfirm })
    const { email, access_token } = await laptopPerson(before)
    const after = await build(t, { env: alerting, database: before.database })
    await signInFrom(after, email, { 'user-agent': windows(152) })
    await call(after.app, '/logout', undefined, { method: 'POST', token: access_token })
    await signInFrom(after, email, { ...laptop })
    assert.deepEqual(await alertsTo(after, email, [before]), [])
  })

  test('that was used from the same network before, long signed out, is known when the switch is turned on', async (t) => {
    const before = await build(t, { env: autoconfirm })
    const { email, access_token } = await laptopPerson(before)
    await call(before.app, '/logout', undefined, { method: 'POST', token: access_token })
    const after = await build(t, { env: alerting, database: before.database })
    await signInFrom(after, email, laptop)
    assert.deepEqual(await alertsTo(after, email, [before]), [])
    await signInFrom(after, email, phone)
    assert.equal((await alertsTo(after, email, [before])).length, 1)
  })

  test('reaches the hook that sends mail, with what the mail would say', async (t) => {
    const receiver = await startHookReceiver(t)
    const server = await build(t, { env: { ...alerting, ...receiver.env('SEND_EMAIL') } })
    const { email } = await laptopPerson(server)
    await signInFrom(server, email, phone)
    const { email_data } = await receiver.next(0)
    const { email_action_type, device, end_session_url } = Object(email_data)
    assert.equal(email_action_type, 'new_sign_in_notification')
    assert.equal(device, 'Chrome, Android')
    assert.match(end_session_url, /^http:\/\/auth\.example\/sessions\/end\?token=/)
  })
})

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
