/** Row 9: text messages are counted when they are sent, like mails. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { refundSendQuota } from '../../db/quota-refunds.ts'
import { ask, everyFactor, send } from '../support/factors.ts'
import { newAddress, newNumber, newPerson, password, phonePerson } from '../support/people.ts'
import { buildWithSms, type PhoneServer } from '../support/phone-journeys.ts'
import { call } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { left, letHoursPass, putOffUntil, untilAnswered } from './send-quota.ts'

suite('row 9: the quota of text messages', () => {
  const env = { AUTH_RATE_LIMIT_SMS_SENT: '2' }
  const answered = async (server: PhoneServer, path: string, body: object) =>
    (await call(server.app, path, body)).statusCode

  test('is not used up by mails, nor by repeats for invented numbers', async (t) => {
    const server = await buildWithSms(t, { env: { ...env, AUTH_RATE_LIMIT_EMAIL_SENT: '2' } })
    for (const status of [200, 200, 429]) {
      assert.equal(await answered(server, '/signup', { email: newAddress(), password }), status)
    }
    for (let i = 0; i < 10; i++) {
      assert.equal(await answered(server, '/resend', { type: 'sms', phone: newNumber() }), 200)
    }
    await untilAnswered(server)
    assert.equal(await left(server, 'sms'), undefined)
    assert.equal(await answered(server, '/signup', { phone: newNumber(), password }), 200)
  })

  test('is not used up by what the provider refuses', async (t) => {
    const server = await buildWithSms(t, { env: { ...everyFactor, ...env } })
    const person = await newPerson(server.app)
    const factor = { factor_type: 'phone', phone: newNumber() }
    const { id } = await ask<{ id: string }>(server.app, 'POST', '/factors', person, factor)
    server.sms.state.refuses = true
    const texts = Array.from({ length: 4 }, () =>
      answered(server, '/signup', { phone: newNumber(), password }),
    )
    assert.ok((await Promise.all(texts)).every((status) => [422, 429].includes(status)))
    const code = await send(server.app, 'POST', `/factors/${id}/challenge`, person)
    assert.equal(code.statusCode, 422, code.body)
    assert.equal(await left(server, 'sms'), 2)
    server.sms.state.refuses = false
    const statuses = []
    for (let i = 0; i < 3; i++) {
      statuses.push(await answered(server, '/signup', { phone: newNumber(), password }))
    }
    assert.deepEqual(statuses, [200, 200, 429])
  })

  test('is used up by what may have been sent: an answer that is lost', async (t) => {
    const timed = { ...env, AUTH_INTERNAL_HTTP_TIMEOUT: '1s' }
    const server = await buildWithSms(t, { env: timed })
    server.sms.state.delayMs = 2_000
    assert.equal(await answered(server, '/signup', { phone: newNumber(), password }), 422)
    assert.equal(await left(server, 'sms'), 1)
  })

  test('what was taken before a new window began is not given to it', async (t) => {
    const server = await buildWithSms(t, { env })
    assert.equal(await answered(server, '/signup', { phone: newNumber(), password }), 200)
    const { rows } = await server.app.pool.query('select refilled_at from auth.postern_send_quotas')
    const began: Date = rows[0].refilled_at
    await refundSendQuota(server.app.db, 'sms', new Date(began.getTime() - 3_600_000))
    assert.equal(await left(server, 'sms'), 1)
    for (const window of [began, began]) await refundSendQuota(server.app.db, 'sms', window)
    assert.equal(await left(server, 'sms'), 2)
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
