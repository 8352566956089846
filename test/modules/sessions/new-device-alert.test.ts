/** Emails about sign-ins from new devices. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { findUser } from '../../../db/users/users.ts'
import { createSession } from '../../../modules/sessions/index.ts'
import { adminCall } from '../../support/admin.ts'
import {
  emailAfter,
  open,
  pkcePair,
  waitForIdleQueue,
} from '../../support/messages/mail-journeys.ts'
import type { ReceivedMail } from '../../support/messages/mail-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { anonymousUser, autoconfirm, newAddress, signIn, signUp } from '../../support/users.ts'
import { startHookReceiver } from '../../support/webhooks/hook-receiver.ts'
import { alerting, laptop, laptopUser, phone, signInFrom, windows } from './device-alerts.ts'

const subject = 'New sign-in to your account'

/** The alerts that reached a user, when nothing is left to be sent. */
async function alertsTo(
  server: Built,
  email: string,
  /** A server that works for the same database sends some of them. */
  also: readonly Built[] = [],
): Promise<ReceivedMail[]> {
  await waitForIdleQueue(server)
  const all = [server, ...also].flatMap(({ mail }) => mail.messages)
  return all.filter(({ to, mail }) => to === email && mail.subject === subject)
}

suite('new device notification', () => {
  const servers = sharedServers()
  const withOthers = {
    ...alerting,
    AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  }

  test('is sent once with device, address and time', async () => {
    const server = await servers(alerting)
    const { email } = await laptopUser(server)
    const from = { ...phone, 'x-forwarded-for': '203.0.113.7' }
    const message = await emailAfter(server, email, () => signIn(server.app, { email }, from))

    assert.equal(message.mail.subject, subject)
    assert.match(message.mail.text ?? '', /Device: Chrome, Android/)
    assert.match(message.mail.text ?? '', /IP address: 203\.0\.113\.7/)
    await signInFrom(server, email, phone)
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('is sent at the first sign-in that the access token hook accepts', async (t) => {
    const receiver = await startHookReceiver(t)
    const server = await build(t, { env: { ...alerting, ...receiver.env('CUSTOM_ACCESS_TOKEN') } })
    receiver.answer(({ claims }) => ({ claims }))
    const { email } = await laptopUser(server)

    receiver.answer({ error: { http_code: 403, message: 'Not from there' } })
    assert.equal((await signIn(server.app, { email }, phone)).statusCode, 403)
    assert.deepEqual(await alertsTo(server, email), [])

    receiver.answer(({ claims }) => ({ claims }))
    await emailAfter(server, email, () => signIn(server.app, { email }, phone))
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('is not sent at sign-up or for the same device in another version or network', async () => {
    const server = await servers(alerting)
    const { email } = await laptopUser(server)
    await signInFrom(server, email, laptop)
    await signInFrom(server, email, { 'user-agent': windows(152) })
    await signInFrom(server, email, { ...laptop, 'x-forwarded-for': '198.51.100.3' })
    assert.deepEqual(await alertsTo(server, email), [])
  })

  test('is not sent for the first sign-in after a confirmed sign-up', async () => {
    const server = await servers({ ...alerting, AUTH_MAILER_AUTOCONFIRM: 'false' })
    const email = newAddress()
    const message = await emailAfter(server, email, () => signUp(server.app, { email }))
    await open(server.app, message)
    assert.deepEqual(await alertsTo(server, email), [])
  })

  test('is sent for an unknown device by each sign-in method', async () => {
    const server = await servers(alerting)
    const { email } = await laptopUser(server)
    const { verifier, fields } = pkcePair()
    const requested = { email, ...fields }
    const message = await emailAfter(server, email, () => call(server.app, '/magiclink', requested))
    const { location } = (await open(server.app, message)).headers
    const auth_code = new URL(String(location)).searchParams.get('code')
    const exchange = { auth_code, code_verifier: verifier }
    const url = '/token?grant_type=pkce'
    await emailAfter(server, email, () => call(server.app, url, exchange, { headers: phone }))
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('is sent once when ten sign-ins race', async () => {
    const server = await servers(alerting)
    const { email } = await laptopUser(server)
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => signIn(server.app, { email }, phone)),
    )
    assert.ok(responses.every(({ statusCode }) => statusCode === 200))
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('is limited to twenty devices a day', async () => {
    const server = await servers(alerting)
    const { email } = await laptopUser(server)
    for (const message of 'abcdefghijklmnopqrstuv') {
      await signInFrom(server, email, { 'user-agent': `app-${message}/1` })
    }
    // The laptop is one of the twenty.
    assert.equal((await alertsTo(server, email)).length, 19)
  })

  test('shows an unknown device for missing and invented user agents', async () => {
    const server = await servers(alerting)
    const { email } = await laptopUser(server)
    const from = { 'user-agent': 'call +1 555 0100 or see http://evil.example/' }
    const { mail } = await emailAfter(server, email, () => signIn(server.app, { email }, from))
    assert.match(mail.text ?? '', /Device: unknown/)
    assert.doesNotMatch(mail.text ?? '', /evil/)
    assert.doesNotMatch(String(mail.html), /evil/)
  })

  test('is not sent and stores nothing when disabled', async () => {
    const server = await servers(autoconfirm)
    const { email } = await laptopUser(server)
    await signInFrom(server, email, phone)
    assert.deepEqual(await alertsTo(server, email), [])
    const noted = await server.app.db
      .selectFrom('postern_sign_in_devices')
      .select('device')
      .execute()
    assert.deepEqual(noted, [])
  })

  test('is not sent for an impersonating admin, whose device is not stored', async () => {
    const server = await servers(withOthers)
    const { email, user } = await laptopUser(server)
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

  test('is skipped for a user without an email', async () => {
    const server = await servers(withOthers)
    const { user } = await anonymousUser(server.app)
    const devices = await server.app.db
      .selectFrom('postern_sign_in_devices')
      .select('device')
      .where('user_id', '=', user.id)
      .execute()
    assert.deepEqual(devices, [])
  })

  test('is sent only when the session is stored', async () => {
    const server = await servers(alerting)
    const { app } = server
    const { email, user } = await laptopUser(server)
    const account = (await findUser(app.db, user.id)) ?? assert.fail()
    const clientInfo = { userAgent: phone['user-agent'], ip: null, network: '', tag: null }
    const taken = new Error('taken back')
    const opening = app.db.transaction().execute(async (trx) => {
      await createSession(app, trx, account, { method: 'otp', clientInfo }, new Date())
      throw taken
    })
    await assert.rejects(opening, taken)
    const stale = { method: 'password', passwordHash: 'another', clientInfo } as const
    await assert.rejects(createSession(app, app.db, account, stale, new Date()))
    assert.deepEqual(await alertsTo(server, email), [])

    await signInFrom(server, email, phone)
    assert.equal((await alertsTo(server, email)).length, 1)
  })

  test('is not sent for a device known before it was enabled', async (t) => {
    const before = await build(t, { env: autoconfirm })
    const { email, access_token } = await laptopUser(before)
    const after = await build(t, { env: alerting, database: before.database })
    await signInFrom(after, email, { 'user-agent': windows(152) })
    await call(after.app, '/logout', undefined, { method: 'POST', token: access_token })
    await signInFrom(after, email, { ...laptop })
    assert.deepEqual(await alertsTo(after, email, [before]), [])
  })

  test('is not sent for a device of the same network known before it was enabled', async (t) => {
    const before = await build(t, { env: autoconfirm })
    const { email, access_token } = await laptopUser(before)
    await call(before.app, '/logout', undefined, { method: 'POST', token: access_token })
    const after = await build(t, { env: alerting, database: before.database })
    await signInFrom(after, email, laptop)
    assert.deepEqual(await alertsTo(after, email, [before]), [])
    await signInFrom(after, email, phone)
    assert.equal((await alertsTo(after, email, [before])).length, 1)
  })

  test('is passed to the send email hook', async (t) => {
    const receiver = await startHookReceiver(t)
    const server = await build(t, { env: { ...alerting, ...receiver.env('SEND_EMAIL') } })
    const { email } = await laptopUser(server)
    await signInFrom(server, email, phone)
    const { email_data } = await receiver.next(0)
    const { email_action_type, device, end_session_url } = Object(email_data)
    assert.equal(email_action_type, 'new_sign_in_notification')
    assert.equal(device, 'Chrome, Android')
    assert.match(end_session_url, /^http:\/\/auth\.example\/sessions\/end\?token=/)
  })
})
