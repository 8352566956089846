/** Row 9: text messages are counted when they are sent, like mails. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { newNumber, password, phonePerson } from '../support/people.ts'
import { buildWithSms, type PhoneServer } from '../support/phone-journeys.ts'
import { call } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { left, letHoursPass, putOffUntil, untilAnswered } from './send-quota.ts'

suite('row 9: the quota of text messages', () => {
  const env = { AUTH_RATE_LIMIT_SMS_SENT: '2' }
  const answered = async (server: PhoneServer, path: string, body: object) =>
    (await call(server.app, path, body)).statusCode

  test('is not used up by repeats for invented numbers', async (t) => {
    const server = await buildWithSms(t, { env })
    for (let i = 0; i < 10; i++) {
      assert.equal(await answered(server, '/resend', { type: 'sms', phone: newNumber() }), 200)
    }
    await untilAnswered(server)
    assert.equal(await left(server, 'sms'), undefined)
    assert.equal(await answered(server, '/signup', { phone: newNumber(), password }), 200)
  })

  test('a repeated sign-up counts like a first one, so that the count does not tell', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_RATE_LIMIT_SMS_SENT: '10' } })
    const { user } = await phonePerson(server)
    assert.equal(await left(server, 'sms'), 9)
    assert.equal(await answered(server, '/signup', { phone: user.phone, password }), 200)
    assert.equal(await left(server, 'sms'), 8)
  })

  test('is not used up by strangers, to whom nothing is sent while nobody may sign up', async (t) => {
    const server = await buildWithSms(t, { env: { ...env, AUTH_DISABLE_SIGNUP: 'true' } })
    for (let i = 0; i < 3; i++) {
      assert.equal(await answered(server, '/otp', { phone: newNumber() }), 200)
    }
    assert.equal(await left(server, 'sms'), undefined)
  })

  test('once exhausted, refuses requests for known and unknown numbers alike', async (t) => {
    const server = await buildWithSms(t, { env })
    const known = newNumber()
    assert.equal(await answered(server, '/signup', { phone: known, password }), 200)
    assert.equal(await answered(server, '/otp', { phone: newNumber() }), 200)
    for (const phone of [known, newNumber()]) {
      assert.equal(await answered(server, '/resend', { type: 'sms', phone }), 429)
      assert.equal(await answered(server, '/otp', { phone }), 429)
      assert.equal(await answered(server, '/signup', { phone, password }), 429)
    }
  })

  test('what finds it exhausted in the queue is sent when it is filled again', async (t) => {
    const first = await buildWithSms(t, { env })
    const { sms, config } = first
    const people = [newNumber(), newNumber()]
    for (const phone of people) await call(first.app, '/signup', { phone, password })
    await first.app.jobQueue.stop()
    await first.app.pool.query(`update auth.postern_send_quotas set tokens = 1`)
    const since = sms.messages.length
    for (const phone of people) await call(first.app, '/resend', { type: 'sms', phone })
    const { DATABASE_URL } = config
    const server = await build(t, { env: { ...sms.env, ...env, DATABASE_URL } })
    await putOffUntil(server)
    assert.equal(sms.messages.length - since, 1)
    await letHoursPass(server)
    for (const phone of people) await sms.code(phone, since)
  })
})
