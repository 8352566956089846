/** The mail that tells of a sign-in from a new device. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { findUser } from '../../../db/users.ts'
import { adminCall } from '../../support/admin.ts'
import { startHookReceiver } from '../../support/hook-receiver.ts'
import { idle, mailAfter, open, pkcePair } from '../../support/mail-journeys.ts'
import type { ReceivedMail } from '../../support/mail-server.ts'
import { anonymousPerson, autoconfirm, newAddress, signIn, signUp } from '../../support/people.ts'
import { call } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { sharedServers } from '../../support/shared-servers.ts'
import { alerting, laptop, laptopPerson, phone, signInFrom, windows } from './device-alerts.ts'

const subject = 'New sign-in to your account'

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
