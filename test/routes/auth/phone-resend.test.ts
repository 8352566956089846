import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import {
  buildWithSms,
  codeAfter,
  type PhoneServer,
  sharedSmsServer,
} from '../../support/messages/phone-journeys.ts'
import { call, changeUser, statusAndCode } from '../../support/requests.ts'
import { newNumber, password, phoneUser, signUpUser } from '../../support/users.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

suite('POST /resend for SMS', () => {
  const shared = sharedSmsServer({ env: { AUTH_MAILER_AUTOCONFIRM: 'true' } })

  test('sms: sends a new code and invalidates the previous one', async () => {
    const server = await shared()
    const phone = newNumber()
    const old = await codeAfter(server, phone, () =>
      call(server.app, '/signup', { phone, password }),
    )
    const token = await again(server, 'sms', phone)
    const type = 'sms'
    if (old !== token) {
      const rejected = await call(server.app, '/verify', { type, phone, token: old })
      assert.deepEqual(statusAndCode(rejected), [403, 'otp_expired'])
    }
    await waitForIdleQueue(server)
    assert.equal((await call(server.app, '/verify', { type, phone, token })).statusCode, 200)
    const signIn = await call(server.app, '/token?grant_type=password', { phone, password })
    assert.equal(signIn.statusCode, 200, 'the password came with the sign-up')
  })

  test('phone_change: accepts the current or the new number', async () => {
    const server = await shared()
    const session = await phoneUser(server)
    const newValue = newNumber()
    await changeUser(server.app, session.access_token, { phone: newValue })
    for (const named of [session.user.phone, newValue]) {
      const since = server.sms.messages.length
      await resend(server, 'phone_change', named)
      await server.sms.code(newValue, since)
      await waitForIdleQueue(server)
    }
    const token = await server.sms.code(newValue)
    const done = await call(server.app, '/verify', { type: 'phone_change', phone: newValue, token })
    assert.equal(done.json().user?.id, session.user.id, done.body)
  })

  test('phone_change: sends nothing when the number now belongs to another user', async () => {
    const server = await shared()
    const session = await phoneUser(server)
    const newValue = newNumber()
    await changeUser(server.app, session.access_token, { phone: newValue })
    await phoneUser(server, newValue)
    const sent = server.sms.messages.length
    await resend(server, 'phone_change', session.user.phone)
    await waitForIdleQueue(server)
    assert.equal(server.sms.messages.length, sent)
  })

  test('responds identically for each account and sends nothing when nothing is pending', async () => {
    const server = await shared()
    const { user } = await phoneUser(server)
    const sent = server.sms.messages.length
    const ids = new Set<string>()
    for (const phone of [user.phone, newNumber()]) {
      for (const type of ['sms', 'phone_change']) {
        const response = await resend(server, type, phone)
        assert.deepEqual(Object.keys(response.json()), ['message_id'])
        assert.match(response.json().message_id, uuid)
        ids.add(response.json().message_id)
      }
    }
    assert.equal(ids.size, 4)
    await waitForIdleQueue(server)
    assert.equal(server.sms.messages.length, sent)
  })

  test('repeated within the interval, sends nothing and responds alike for each number', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_SMS_MAX_FREQUENCY: '60' } })
    const waiting = newNumber()
    await call(server.app, '/signup', { phone: waiting, password })
    const sent = server.sms.messages.length
    for (const type of ['sms', 'phone_change']) {
      for (const phone of [waiting, newNumber()]) {
        for (const _ of [1, 2]) {
          const response = await resend(server, type, phone)
          assert.match(response.json().message_id, uuid, `${type} ${phone}`)
        }
      }
    }
    await waitForIdleQueue(server)
    assert.equal(server.sms.messages.length, sent)
  })

  test('responds before the provider does', async () => {
    const server = await shared()
    const phone = newNumber()
    await call(server.app, '/signup', { phone, password })
    const responded = Promise.withResolvers<void>()
    server.sms.state.respondsAfter = responded.promise
    await resend(server, 'sms', phone)
    const { rows } = await server.app.pool.query(`select from ${jobs}`)
    assert.equal(rows.length, 1, 'the message is still to be sent')
    responded.resolve()
    await waitForIdleQueue(server)
  })

  test('stores no number in the queue', async () => {
    const server = await shared()
    const phone = newNumber()
    await server.app.jobQueue.stop()
    await resend(server, 'sms', phone)
    const { rows } = await server.app.pool.query(`select payload::text from ${jobs}`)
    assert.equal(rows.length, 1)
    assert.ok(!rows[0].payload.includes(phone))
  })
})

suite('POST /resend: validation', () => {
  const shared = sharedSmsServer()
  const invalidCases: [body: object, outcome: [number, string]][] = [
    [{ type: 'sms' }, [400, 'validation_failed']],
    [{ type: 'phone_change', email: 'a@example.com' }, [400, 'validation_failed']],
    [{ type: 'sms', phone: '15550100200', email: 'a@example.com' }, [400, 'validation_failed']],
    [{ type: 'fax', phone: '15550100200' }, [400, 'validation_failed']],
    [{ type: 'sms', phone: 'x' }, [400, 'validation_failed']],
  ]
  for (const [body, outcome] of invalidCases) {
    test(`returns validation_failed for ${JSON.stringify(body)}`, async () => {
      assert.deepEqual(statusAndCode(await call((await shared()).app, '/resend', body)), outcome)
    })
  }

  test('returns phone_provider_disabled when phones are disabled', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_EXTERNAL_PHONE_ENABLED: 'false' } })
    const response = await call(server.app, '/resend', { type: 'sms', phone: newNumber() })
    assert.deepEqual(statusAndCode(response), [400, 'phone_provider_disabled'])
  })
})

suite('GET /reauthenticate by SMS', () => {
  const env = {
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
    AUTH_MAILER_AUTOCONFIRM: 'true',
  }
  const shared = sharedSmsServer({ env })
  const expected = 'a new password'
  const invalid = [422, 'reauthentication_not_valid']

  test('sends a nonce that changes the password once, for its user only', async () => {
    const server = await shared()
    const [ann, bob] = [await phoneUser(server), await phoneUser(server)]
    await server.app.pool.query(
      `update auth.sessions set created_at = created_at - interval '25 hours'`,
    )
    const change = (nonce: string | undefined, password = expected) =>
      changeUser(server.app, ann.access_token, { password, ...(nonce && { nonce }) })

    assert.deepEqual(statusAndCode(await change(undefined)), [400, 'reauthentication_needed'])
    assert.deepEqual(statusAndCode(await change('123456')), invalid)
    const since = server.sms.messages.length
    const requested = await reauthenticate(server, ann)
    assert.match(requested.json().message_id, uuid)
    const nonce = await server.sms.code(ann.user.phone, since)
    await reauthenticate(server, bob)
    const bobs = await server.sms.code(bob.user.phone)
    if (bobs !== nonce) assert.deepEqual(statusAndCode(await change(bobs)), invalid)
    const asSignIn = { type: 'sms', phone: ann.user.phone, token: nonce }
    assert.deepEqual(statusAndCode(await call(server.app, '/verify', asSignIn)), [
      403,
      'otp_expired',
    ])
    assert.equal((await change(nonce)).statusCode, 200)
    assert.deepEqual(statusAndCode(await change(nonce, 'yet another one')), invalid)
  })

  test('accepts a test OTP as nonce', async (t) => {
    const phone = '15550100299'
    const server = await buildWithSms(t, { env: { ...env, AUTH_SMS_TEST_OTP: `${phone}:123456` } })
    await call(server.app, '/signup', { phone, password })
    const signedIn = await call(server.app, '/verify', { type: 'sms', phone, token: '123456' })
    await server.app.pool.query(
      `update auth.sessions set created_at = created_at - interval '25 hours'`,
    )
    const session = signedIn.json()
    assert.equal((await reauthenticate(server, session)).statusCode, 200)
    const rejected = await changeUser(server.app, session.access_token, {
      password: expected,
      nonce: '654321',
    })
    assert.deepEqual(statusAndCode(rejected), invalid)
    const done = await changeUser(server.app, session.access_token, {
      password: expected,
      nonce: '123456',
    })
    assert.equal(done.statusCode, 200, done.body)
  })

  test('uses email for a user with email and phone', async () => {
    const server = await shared()
    const session = await signUpUser(server.app)
    const phone = newNumber()
    const token = await codeAfter(server, phone, () =>
      changeUser(server.app, session.access_token, { phone }),
    )
    await call(server.app, '/verify', { type: 'phone_change', phone, token })
    const sent = server.sms.messages.length
    assert.equal((await reauthenticate(server, session)).statusCode, 200)
    assert.ok(await server.mail.waitFor(session.user.email ?? ''))
    assert.equal(server.sms.messages.length, sent)
  })
})

const jobs = `auth_jobs._private_jobs where task_id =
  (select id from auth_jobs._private_tasks where identifier = 'repeat_text_message')`

async function resend(server: PhoneServer, type: string, phone: string) {
  const response = await call(server.app, '/resend', { type, phone })
  assert.equal(response.statusCode, 200, response.body)
  return response
}

const again = (server: PhoneServer, type: string, phone: string) =>
  codeAfter(server, phone, () => resend(server, type, phone))

function reauthenticate({ app }: PhoneServer, { access_token }: { access_token: string }) {
  const headers = { authorization: `Bearer ${access_token}` }
  return app.inject({ url: '/reauthenticate', headers })
}
