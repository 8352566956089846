import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { lockUserRow } from '../../support/locked-user.ts'
import { emailAfter, emailedToken } from '../../support/messages/mail-journeys.ts'
import {
  buildWithSms,
  codeAfter,
  type PhoneServer,
  sharedSmsServer,
} from '../../support/messages/phone-journeys.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import {
  adminCreatedUser,
  newAddress,
  newNumber,
  password,
  phoneUser,
} from '../../support/users.ts'

const expired = [403, 'otp_expired']

suite('POST /otp with a phone number', () => {
  const shared = sharedSmsServer()

  test('signs up a new number and signs in a known one', async () => {
    const server = await shared()
    const phone = newNumber()
    const send = () => call(server.app, '/otp', { phone, data: { a: 1 } })
    const first = await typed(server, phone, await codeAfter(server, phone, send))
    assert.equal(first.statusCode, 200, first.body)
    assert.equal(first.json().user.user_metadata.a, 1)
    const second = await typed(server, phone, await codeAfter(server, phone, send))
    assert.equal(second.json().user.id, first.json().user.id)
    const claims = decodeJwt<{ amr: { method: string }[] }>(second.json().access_token)
    assert.deepEqual([claims.phone, claims.amr[0]?.method], [phone, 'otp'])
  })

  test('returns {} for known and unknown numbers', async () => {
    const server = await shared()
    const { user } = await phoneUser(server)
    for (const phone of [user.phone, newNumber()]) {
      const response = await call(server.app, '/otp', { phone })
      assert.deepEqual([response.statusCode, response.json()], [200, {}])
    }
  })

  test('create_user=false: sends a code to known numbers only', async () => {
    const server = await shared()
    const { user } = await phoneUser(server)
    const sent = server.sms.messages.length
    const unknown = await call(server.app, '/otp', { phone: newNumber(), create_user: false })
    assert.deepEqual([unknown.statusCode, unknown.json()], [200, {}])
    const malformed = await call(server.app, '/otp', { phone: 'no number', create_user: false })
    assert.deepEqual(statusAndCode(malformed), [400, 'validation_failed'])
    assert.equal(server.sms.messages.length, sent)
    const send = () => call(server.app, '/otp', { phone: user.phone, create_user: false })
    const token = await codeAfter(server, user.phone, send)
    assert.equal((await typed(server, user.phone, token)).statusCode, 200)
  })

  test('returns {} when the account is deleted while the message is sent', async () => {
    const server = await shared()
    const { user } = await phoneUser(server)
    const lock = await lockUserRow(server.app, user.id)
    const requested = await lock.queue(1, () => call(server.app, '/otp', { phone: user.phone }))
    await lock.query('delete from auth.users where id = $1', [user.id])
    await lock.release()
    const response = await requested.response
    assert.deepEqual([response.statusCode, response.json()], [200, {}])
  })

  test('stores no code when the number changed while the message was sent', async () => {
    const server = await shared()
    const { user } = await phoneUser(server)
    const lock = await lockUserRow(server.app, user.id)
    const requested = await lock.queue(1, () => call(server.app, '/otp', { phone: user.phone }))
    await lock.query('update auth.users set phone = $2 where id = $1', [user.id, newNumber()])
    await lock.release()
    assert.equal((await requested.response).statusCode, 200)
    const tokens = server.app.db.selectFrom('one_time_tokens').select('id')
    assert.deepEqual(await tokens.where('user_id', '=', user.id).execute(), [])
  })

  test('sends by WhatsApp', async () => {
    const server = await shared()
    const phone = newNumber()
    const send = () => call(server.app, '/otp', { phone, channel: 'whatsapp' })
    const token = await codeAfter(server, phone, send)
    assert.equal(server.sms.messages.at(-1)?.to, `whatsapp:+${phone}`)
    assert.equal((await typed(server, phone, token)).statusCode, 200)
  })

  test('rejects invalid requests before sending', async () => {
    const server = await shared()
    const sent = server.sms.messages.length
    const wrong = [
      {},
      { phone: newNumber(), email: 'a@example.com' },
      { phone: newNumber(), channel: 'pigeon' },
      { phone: newNumber(), code_challenge: 'x'.repeat(43) },
      { phone: '+49 (30) 1234567' },
      { email: 'a@example.com', channel: 'sms' },
    ]
    for (const body of wrong) {
      const response = await call(server.app, '/otp', body)
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'], JSON.stringify(body))
    }
    assert.equal(server.sms.messages.length, sent)
  })
})

suite('POST /verify with an SMS code', () => {
  const shared = sharedSmsServer()
  const sendTo = async (server: PhoneServer, phone: string) =>
    codeAfter(server, phone, () => call(server.app, '/otp', { phone }))

  test('creates one session when ten requests race', async () => {
    const server = await shared()
    const phone = newNumber()
    const token = await sendTo(server, phone)
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => typed(server, phone, token)),
    )
    const statuses = responses.map(({ statusCode }) => statusCode).sort()
    assert.deepEqual(statuses, [200, ...Array(9).fill(403)])
    const rejected = responses.filter(({ statusCode }) => statusCode === 403)
    assert.ok(rejected.every((response) => statusAndCode(response)[1] === 'otp_expired'))
    const { rows } = await server.app.pool.query(
      'select count(*)::int as n from auth.sessions s join auth.users u on u.id = s.user_id where u.phone = $1',
      [phone],
    )
    assert.equal(rows[0].n, 1)
  })

  test('rejects wrong, foreign, mistyped, replaced and used codes identically', async () => {
    const server = await shared()
    const [phone, other] = [newNumber(), newNumber()]
    const old = await sendTo(server, phone)
    const token = await sendTo(server, phone)
    const foreign = await sendTo(server, other)
    const invalidCases: Record<string, object> = {
      wrong: { type: 'sms', phone, token: token === '000000' ? '111111' : '000000' },
      foreign: { type: 'sms', phone, token: foreign === token ? 'x' : foreign },
      'of an unknown number': { type: 'sms', phone: newNumber(), token },
      'as a phone change': { type: 'phone_change', phone, token },
      'as a sign-up': { type: 'signup', phone, token },
      replaced: { type: 'sms', phone, token: old === token ? 'x' : old },
      'as a mail': { type: 'email', email: 'someone@example.com', token },
      'of no kind': { type: 'fax', phone, token },
    }
    const bodies = new Set<string>()
    for (const [name, body] of Object.entries(invalidCases)) {
      const response = await call(server.app, '/verify', body)
      assert.deepEqual(statusAndCode(response), expired, name)
      bodies.add(response.body)
    }
    assert.equal((await typed(server, phone, token)).statusCode, 200, 'nothing was consumed')
    assert.equal((await typed(server, other, foreign)).statusCode, 200, 'nothing was consumed')
    const replayed = await typed(server, phone, token)
    bodies.add(replayed.body)
    assert.equal(bodies.size, 1)
  })

  test('invalidates the code after ten failed attempts', async () => {
    const server = await shared()
    const phone = newNumber()
    const token = await sendTo(server, phone)
    for (let attempt = 0; attempt < 10; attempt++) {
      assert.deepEqual(statusAndCode(await typed(server, phone, `no${attempt}`)), expired)
    }
    assert.deepEqual(statusAndCode(await typed(server, phone, token)), expired)
    const next = await sendTo(server, phone)
    assert.equal((await typed(server, phone, next)).statusCode, 200)
  })

  test('invalidates outstanding email links after success', async () => {
    const server = await shared()
    const [email, phone] = [newAddress(), newNumber()]
    await adminCreatedUser(server.app, { email, phone, email_confirm: true, phone_confirm: true })
    const message = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    assert.equal((await typed(server, phone, await sendTo(server, phone))).statusCode, 200)
    const verification = { type: 'recovery', token_hash: emailedToken(message) }
    assert.deepEqual(statusAndCode(await call(server.app, '/verify', verification)), expired)
  })

  test('returns user_banned only for the correct code', async () => {
    const server = await shared()
    const { user } = await phoneUser(server)
    const token = await sendTo(server, user.phone)
    await server.app.pool.query(
      `update auth.users set banned_until = now() + interval '1 hour' where id = $1`,
      [user.id],
    )
    assert.deepEqual(statusAndCode(await typed(server, user.phone, 'wrong')), expired)
    assert.deepEqual(statusAndCode(await typed(server, user.phone, token)), [403, 'user_banned'])
  })

  test('applies AUTH_SMS_OTP_LENGTH and AUTH_SMS_OTP_EXP', async (t) => {
    const env = { AUTH_SMS_OTP_LENGTH: '9', AUTH_SMS_OTP_EXP: '90' }
    const server = await buildWithSms(t, { env })
    const [quick, late] = [newNumber(), newNumber()]
    const now = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now })
    const tokens = [await sendTo(server, quick), await sendTo(server, late)]
    for (const token of tokens) assert.match(token, /^\d{9}$/)
    t.mock.timers.setTime(now + 89_000)
    assert.equal((await typed(server, quick, tokens[0])).statusCode, 200)
    t.mock.timers.setTime(now + 91_000)
    assert.deepEqual(statusAndCode(await typed(server, late, tokens[1])), expired)
  })
})

suite('SMS limits', () => {
  const rejected = [429, 'over_sms_send_rate_limit']

  test('throttles messages per number on each endpoint, known or not', async (t) => {
    const server = await buildWithSms(t)
    const { user } = await phoneUser(server)
    const strict = await buildWithSms(t, {
      env: {
        AUTH_SMS_MAX_FREQUENCY: '60',
        DATABASE_URL: server.config.DATABASE_URL ?? '',
      },
    })
    const requests: [name: string, url: string, body: (phone: string) => object][] = [
      ['signup', '/signup', (phone) => ({ phone, password })],
      ['otp', '/otp', (phone) => ({ phone })],
      ['resend', '/resend', (phone) => ({ type: 'sms', phone })],
    ]
    const now = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now })
    for (const [index, [name, url, body]] of requests.entries()) {
      t.mock.timers.setTime(now + index * 61_000)
      for (const phone of [user.phone, newNumber()]) {
        const first = await call(strict.app, url, body(phone))
        assert.equal(first.statusCode, 200, `${name} ${first.body}`)
        // A resend goes to some numbers only, so it delays only resends.
        const lock = name === 'resend' ? requests.slice(index) : requests
        for (const [, again, other] of lock) {
          const response = await call(strict.app, again, other(phone))
          // It sends nothing, and says so for no number.
          if (again === '/resend') {
            assert.equal(response.statusCode, 200, `${again} after ${name}`)
            continue
          }
          assert.deepEqual(statusAndCode(response), rejected, `${again} after ${name}`)
          assert.equal(response.headers['retry-after'], '60')
          assert.match(response.json().msg, /after 60 seconds/)
        }
      }
    }
  })

  test('AUTH_RATE_LIMIT_SMS_SENT: limits all messages per hour, test OTPs excluded', async (t) => {
    const fixed = newNumber()
    const env = { AUTH_RATE_LIMIT_SMS_SENT: '2', AUTH_SMS_TEST_OTP: `${fixed}:123456` }
    const server = await buildWithSms(t, { env })
    for (const phone of [newNumber(), fixed, newNumber()]) {
      assert.equal((await call(server.app, '/otp', { phone })).statusCode, 200)
    }
    // New numbers have a quota of their own and get the same response as known ones.
    assert.equal((await call(server.app, '/otp', { phone: newNumber() })).statusCode, 200)
    const signUp = await call(server.app, '/signup', { phone: newNumber(), password })
    assert.deepEqual(statusAndCode(signUp), rejected)
    assert.equal((await call(server.app, '/otp', { phone: fixed })).statusCode, 200)
    assert.equal(server.sms.messages.length, 2)
  })
})

suite('AUTH_SMS_TEST_OTP', () => {
  const phone = '15550100299'
  const env = { AUTH_SMS_TEST_OTP: `+1 555 010 0299:123456,15550100298:654321` }

  test('sends nothing and accepts the test OTP repeatedly', async (t) => {
    const server = await buildWithSms(t, { env })
    assert.deepEqual(statusAndCode(await typed(server, phone, '123456')), expired, 'no account yet')
    await call(server.app, '/signup', { phone, password })
    for (let time = 0; time < 3; time++) {
      const response = await typed(server, `+${phone}`, '123456')
      assert.equal(response.statusCode, 200, response.body)
    }
    for (const wrong of ['654321', '123457', '', '1234567']) {
      const { statusCode } = await typed(server, phone, wrong)
      assert.ok(statusCode === 403 || statusCode === 400, wrong)
    }
    assert.equal(server.sms.messages.length, 0)
  })

  test('AUTH_SMS_TEST_OTP_VALID_UNTIL: rejects test OTPs afterwards and logs the time at startup', async (t) => {
    const until = new Date(Date.now() + 60_000).toISOString()
    const lines: string[] = []
    const server = await buildWithSms(t, {
      env: { ...env, AUTH_SMS_TEST_OTP_VALID_UNTIL: until },
      lines,
    })
    assert.ok(lines.some((line) => line.includes(`fixed code until ${until}`)))
    await call(server.app, '/otp', { phone })
    assert.equal((await typed(server, phone, '123456')).statusCode, 200)
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(until) })
    assert.deepEqual(statusAndCode(await typed(server, phone, '123456')), expired)
    const token = await codeAfter(server, phone, () => call(server.app, '/otp', { phone }))
    assert.equal((await typed(server, phone, token)).statusCode, 200)
  })
})

function typed(server: PhoneServer, phone: string, token = '') {
  return call(server.app, '/verify', { type: 'sms', phone, token })
}
