import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { delayResponses } from '../../support/late-responses.ts'
import { emailAfter, emailedToken, nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import {
  buildWithSms,
  codeAfter,
  type PhoneServer,
  sharedSmsServer,
} from '../../support/messages/phone-journeys.ts'
import { call, changeUser, statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { unnamedStatements } from '../../support/statements.ts'
import { newAddress, newNumber, password, phoneUser, signUpUser } from '../../support/users.ts'

const expired = [403, 'otp_expired']
const confirmed = { AUTH_MAILER_AUTOCONFIRM: 'true' }

suite('PUT /user with a new phone number', () => {
  const shared = sharedSmsServer({ env: confirmed })
  const everyMinute = sharedSmsServer({ env: { ...confirmed, AUTH_SMS_MAX_FREQUENCY: '60' } })

  test('changes the number once the texted code is verified', async () => {
    const server = await shared()
    const session = await signUpUser(server.app)
    const phone = newNumber()
    const since = server.sms.messages.length
    const pending = await changeUser(server.app, session.access_token, { phone: `+${phone}` })
    assert.equal(pending.statusCode, 200, pending.body)
    const { phone: current, new_phone, phone_change_sent_at } = pending.json()
    assert.deepEqual([current, new_phone], ['', phone])
    assert.ok(phone_change_sent_at)

    const token = await server.sms.code(phone, since)
    const wrongType = await call(server.app, '/verify', { type: 'sms', phone, token })
    assert.deepEqual(statusAndCode(wrongType), expired)
    const done = await changed(server, phone, token)
    assert.equal(done.statusCode, 200, done.body)
    const { user } = done.json()
    assert.equal(user.id, session.user.id)
    assert.deepEqual([user.phone, user.new_phone], [phone, undefined])
    assert.ok(user.phone_confirmed_at)
    assert.deepEqual(user.app_metadata.providers, ['email', 'phone'])
    const identity = user.identities.find(
      ({ provider }: { provider: string }) => provider === 'phone',
    )
    assert.deepEqual(
      [identity.identity_data.phone, identity.identity_data.phone_verified],
      [phone, true],
    )
    assert.deepEqual(statusAndCode(await changed(server, phone, token)), expired)
    const signedIn = await call(server.app, '/token?grant_type=password', { phone, password })
    assert.equal(signedIn.statusCode, 200, signedIn.body)
  })

  test('invalidates outstanding email links once verified', async () => {
    const server = await shared()
    const session = await signUpUser(server.app)
    const { email } = session
    const message = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    const phone = newNumber()
    await changed(server, phone, await start(server, session, phone))
    const verification = { type: 'recovery', token_hash: emailedToken(message) }
    assert.deepEqual(statusAndCode(await call(server.app, '/verify', verification)), expired)
  })

  test('updates phone_confirmed_at when it replaces a number', async () => {
    const server = await shared()
    const session = await phoneUser(server)
    const before = new Date(String(session.user.phone_confirmed_at))
    const phone = newNumber()
    const done = await changed(server, phone, await start(server, session, phone))
    const { user } = done.json<Session>()
    assert.equal(user.phone, phone)
    assert.ok(new Date(String(user.phone_confirmed_at)) > before)
  })

  test('creates one session when ten confirmations race', async () => {
    const server = await shared()
    const phone = newNumber()
    const token = await start(server, await signUpUser(server.app), phone)
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => changed(server, phone, token)),
    )
    const statuses = responses.map(({ statusCode }) => statusCode).sort()
    assert.deepEqual(statuses, [200, ...Array(9).fill(403)])
  })

  test('gives a number requested twice to the first code verified and rejects the second', async () => {
    const server = await shared()
    const [ann, bob] = [await signUpUser(server.app), await signUpUser(server.app)]
    const phone = newNumber()
    const anns = await start(server, ann, phone)
    const bobs = await start(server, bob, phone)
    const first = await changed(server, phone, anns)
    assert.equal(first.json().user?.id, ann.user.id)
    assert.deepEqual(statusAndCode(await changed(server, phone, bobs)), [422, 'phone_exists'])
    assert.deepEqual(statusAndCode(await changeUser(server.app, bob.access_token, { phone })), [
      422,
      'phone_exists',
    ])
  })

  test('is voided by a newer request and by a new password', async () => {
    const server = await shared()
    const session = await signUpUser(server.app)
    const [one, two] = [newNumber(), newNumber()]
    const first = await start(server, session, one)
    const second = await start(server, session, two)
    assert.deepEqual(statusAndCode(await changed(server, one, first)), expired)
    const response = await changeUser(server.app, session.access_token, {
      password: 'a new password',
    })
    assert.equal(response.statusCode, 200, response.body)
    assert.deepEqual(statusAndCode(await changed(server, two, second)), expired)
  })

  test('rejects an invalid number and ignores the current one', async () => {
    const server = await shared()
    const session = await phoneUser(server)
    const sent = server.sms.messages.length
    for (const body of [{ phone: '0123' }, { phone: newNumber(), channel: 'fax' }]) {
      assert.deepEqual(statusAndCode(await changeUser(server.app, session.access_token, body)), [
        400,
        'validation_failed',
      ])
    }
    const own = await changeUser(server.app, session.access_token, {
      phone: `+${session.user.phone}`,
    })
    assert.equal(own.statusCode, 200)
    assert.equal(own.json().new_phone, undefined)
    assert.equal(server.sms.messages.length, sent)
  })

  test('keeps password and number when the SMS provider rejects the message', async () => {
    const server = await shared()
    const session = await signUpUser(server.app)
    server.sms.state.rejects = true
    const change = { phone: newNumber(), password: 'a new password' }
    const response = await changeUser(server.app, session.access_token, change)
    server.sms.state.rejects = false
    assert.deepEqual(statusAndCode(response), [422, 'sms_send_failed'])
    const user = await call(server.app, '/user', undefined, { token: session.access_token })
    assert.equal(user.json().new_phone, undefined)
    const { email } = session.user
    const signedIn = await call(server.app, '/token?grant_type=password', { email, password })
    assert.equal(signedIn.statusCode, 200, signedIn.body)
  })

  test('AUTH_SMS_AUTOCONFIRM: applies the number immediately', async (t) => {
    const server = await buildWithSms(t, { env: { ...confirmed, AUTH_SMS_AUTOCONFIRM: 'true' } })
    const session = await signUpUser(server.app)
    const phone = newNumber()
    const response = await changeUser(server.app, session.access_token, { phone })
    assert.equal(response.json().phone, phone, response.body)
    assert.ok(response.json().phone_confirmed_at)
    assert.deepEqual(response.json().app_metadata.providers, ['email', 'phone'])
    assert.equal(server.sms.messages.length, 0)
  })

  test('AUTH_SMS_AUTOCONFIRM: keeps the email change of the same request pending', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_SMS_AUTOCONFIRM: 'true' } })
    const signedUp = await call(server.app, '/signup', { phone: newNumber(), password })
    const [phone, email] = [newNumber(), newAddress()]
    const message = await emailAfter(server, email, () =>
      changeUser(server.app, signedUp.json().access_token, { phone, email }),
    )
    const verification = { type: 'email_change', email, token: codeIn(message) }
    const done = await call(server.app, '/verify', verification)
    assert.deepEqual([done.json().user?.phone, done.json().user?.email], [phone, email])
  })

  test('accepts a test OTP only for a pending change', async (t) => {
    const phone = '15550100299'
    const env = { ...confirmed, AUTH_SMS_TEST_OTP: `${phone}:123456` }
    const server = await buildWithSms(t, { env })
    assert.deepEqual(statusAndCode(await changed(server, phone, '123456')), expired)
    const session = await signUpUser(server.app)
    await changeUser(server.app, session.access_token, { phone })
    assert.deepEqual(statusAndCode(await changed(server, phone, '123457')), expired)
    const done = await changed(server, phone, '123456')
    assert.equal(done.json().user?.phone, phone, done.body)
    assert.equal(server.sms.messages.length, 0)
  })

  test('does not start the send interval for a taken number', async () => {
    const server = await everyMinute()
    const { user: owner } = await phoneUser(server)
    const { access_token: token } = await signUpUser(server.app)
    const taken = await changeUser(server.app, token, { phone: owner.phone })
    assert.deepEqual(statusAndCode(taken), [422, 'phone_exists'])
    const phone = newNumber()
    const code = await codeAfter(server, phone, () => changeUser(server.app, token, { phone }))
    assert.equal((await changed(server, phone, code)).statusCode, 200)
  })

  test('throttles by user and by requested number', async () => {
    const server = await everyMinute()
    const [ann, bob] = [await signUpUser(server.app), await signUpUser(server.app)]
    const phone = newNumber()
    server.sms.state.rejects = true
    assert.equal((await changeUser(server.app, ann.access_token, { phone })).statusCode, 422)
    server.sms.state.rejects = false
    assert.equal((await changeUser(server.app, ann.access_token, { phone })).statusCode, 200)
    const limited = [429, 'over_sms_send_rate_limit']
    assert.deepEqual(
      statusAndCode(await changeUser(server.app, ann.access_token, { phone: newNumber() })),
      limited,
    )
    assert.deepEqual(
      statusAndCode(await changeUser(server.app, bob.access_token, { phone })),
      limited,
    )
    assert.equal(
      (await changeUser(server.app, bob.access_token, { phone: newNumber() })).statusCode,
      200,
    )
  })

  test('does not deadlock when two users request each other’s number', async (t) => {
    const env = { ...confirmed, ...unnamedStatements, AUTH_SMS_MAX_FREQUENCY: '60s' }
    const server = await buildWithSms(t, { env })
    const { app } = server
    const [ann, ben] = [await phoneUser(server), await phoneUser(server)]
    await app.pool.query('delete from auth.postern_send_intervals')
    delayResponses(app, 'into "auth"."postern_send_intervals"', () => 50)
    const responses = await Promise.all([
      changeUser(app, ann.access_token, { phone: ben.user.phone }),
      changeUser(app, ben.access_token, { phone: ann.user.phone }),
    ])
    const rejected = [422, 'phone_exists']
    assert.deepEqual(responses.map(statusAndCode), [rejected, rejected])
  })

  test('changes the number with phone sign-in disabled, if an SMS provider is configured', async (t) => {
    const off = { ...confirmed, AUTH_EXTERNAL_PHONE_ENABLED: 'false' }
    const server = await buildWithSms(t, { env: off })
    const [session, phone] = [await signUpUser(server.app), newNumber()]
    const done = await changed(server, phone, await start(server, session, phone))
    assert.equal(done.json().user?.phone, phone, done.body)
    const signedIn = await call(server.app, '/token?grant_type=password', { phone, password })
    assert.deepEqual(statusAndCode(signedIn), [422, 'phone_provider_disabled'])

    const { app } = await build(t, { env: off })
    const { user, access_token } = await signUpUser(app)
    const rejected = await changeUser(app, access_token, { phone })
    assert.deepEqual(statusAndCode(rejected), [400, 'phone_provider_disabled'])
    await app.db.updateTable('users').set({ phone }).where('id', '=', user.id).execute()
    const same = await changeUser(app, access_token, { phone: `+${phone}`, data: { seen: true } })
    assert.equal(same.statusCode, 200, same.body)
  })

  test('notifies the user by email with the previous number', async (t) => {
    const server = await buildWithNotifications(t)
    const session = await signUpUser(server.app)
    const email = session.user.email ?? ''
    const [one, two] = [newNumber(), newNumber()]
    assert.equal((await changed(server, one, await start(server, session, one))).statusCode, 200)
    const linked = await nextEmail(server, email)
    assert.match(linked.mail.subject ?? '', /sign-in method/i)
    const since = server.mail.messages.length
    assert.equal((await changed(server, two, await start(server, session, two))).statusCode, 200)
    const notification = await nextEmail(server, email, since)
    assert.equal(notification.mail.subject, 'Your phone number was changed')
    for (const phone of [one, two]) assert.ok(notification.mail.text?.includes(phone))
  })
})

const buildWithNotifications = (t: TestContext) =>
  buildWithSms(t, {
    env: {
      ...confirmed,
      AUTH_MAILER_NOTIFICATIONS_PHONE_CHANGED_ENABLED: 'true',
      AUTH_MAILER_NOTIFICATIONS_IDENTITY_LINKED_ENABLED: 'true',
    },
  })

async function start(server: PhoneServer, session: Session, phone: string): Promise<string> {
  return codeAfter(server, phone, () => changeUser(server.app, session.access_token, { phone }))
}

function changed(server: PhoneServer, phone: string, token: string) {
  return call(server.app, '/verify', { type: 'phone_change', phone, token })
}
