/** SMS messages are counted when they are sent, like emails. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { releaseSendQuotas } from '../../../db/limits/send-quotas.ts'
import { everyFactor, request, send } from '../../support/factors/factors.ts'
import { buildWithSms, type PhoneServer } from '../../support/messages/phone-journeys.ts'
import { call } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { newAddress, newNumber, password, phoneUser, signUpUser } from '../../support/users.ts'
import { advanceHours, left, postponedUntil, untilResponded } from './quota-settings.ts'

suite('AUTH_RATE_LIMIT_SMS_SENT', () => {
  const env = { AUTH_RATE_LIMIT_SMS_SENT: '2' }
  const responded = async (server: PhoneServer, path: string, body: object) =>
    (await call(server.app, path, body)).statusCode

  test('is not consumed by emails or by resends to invented numbers', async (t) => {
    const server = await buildWithSms(t, { env: { ...env, AUTH_RATE_LIMIT_EMAIL_SENT: '2' } })
    for (const status of [200, 200, 429]) {
      assert.equal(await responded(server, '/signup', { email: newAddress(), password }), status)
    }
    for (let i = 0; i < 10; i++) {
      assert.equal(await responded(server, '/resend', { type: 'sms', phone: newNumber() }), 200)
    }
    await untilResponded(server)
    assert.equal(await left(server, 'sms signup'), undefined)
    assert.equal(await responded(server, '/signup', { phone: newNumber(), password }), 200)
  })

  test('is not consumed by messages that the provider rejects', async (t) => {
    const server = await buildWithSms(t, { env: { ...everyFactor, ...env } })
    const user = await signUpUser(server.app)
    const factor = { factor_type: 'phone', phone: newNumber() }
    const { id } = await request<{ id: string }>(server.app, 'POST', '/factors', user, factor)
    server.sms.state.rejects = true
    const texts = Array.from({ length: 4 }, () =>
      responded(server, '/signup', { phone: newNumber(), password }),
    )
    assert.ok((await Promise.all(texts)).every((status) => [422, 429].includes(status)))
    const code = await send(server.app, 'POST', `/factors/${id}/challenge`, user)
    assert.equal(code.statusCode, 422, code.body)
    for (const key of ['sms signup', 'sms sign_in']) assert.equal(await left(server, key), 2)
    server.sms.state.rejects = false
    const statuses = []
    for (let i = 0; i < 3; i++) {
      statuses.push(await responded(server, '/signup', { phone: newNumber(), password }))
    }
    assert.deepEqual(statuses, [200, 200, 429])
  })

  test('is consumed by messages whose response was lost', async (t) => {
    const timed = { ...env, AUTH_INTERNAL_HTTP_TIMEOUT: '1s' }
    const server = await buildWithSms(t, { env: timed })
    server.sms.state.delayMs = 2_000
    assert.equal(await responded(server, '/signup', { phone: newNumber(), password }), 422)
    assert.equal(await left(server, 'sms signup'), 1)
  })

  test('does not return a reservation of an earlier window', async (t) => {
    const server = await buildWithSms(t, { env })
    assert.equal(await responded(server, '/signup', { phone: newNumber(), password }), 200)
    const { rows } = await server.app.pool.query('select refilled_at from auth.postern_send_quotas')
    const began: Date = rows[0].refilled_at
    const refund = (windowBegan: Date) =>
      releaseSendQuotas(server.app.db, [{ key: 'sms signup', windowBegan }])
    await refund(new Date(began.getTime() - 3_600_000))
    assert.equal(await left(server, 'sms signup'), 1)
    for (const window of [began, began]) await refund(window)
    assert.equal(await left(server, 'sms signup'), 2)
  })

  test('counts repeated sign-ups like first sign-ups, so that the quota reveals no account', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_RATE_LIMIT_SMS_SENT: '10' } })
    const { user } = await phoneUser(server)
    assert.equal(await left(server, 'sms signup'), 9)
    assert.equal(await responded(server, '/signup', { phone: user.phone, password }), 200)
    assert.equal(await left(server, 'sms signup'), 8)
  })

  test('is not consumed by unauthenticated clients while sign-ups are disabled', async (t) => {
    const server = await buildWithSms(t, { env: { ...env, AUTH_DISABLE_SIGNUP: 'true' } })
    for (let i = 0; i < 3; i++) {
      assert.equal(await responded(server, '/otp', { phone: newNumber() }), 200)
    }
    assert.equal(await left(server, 'sms signup'), undefined)
  })

  test('rejects known and unknown numbers identically once exhausted', async (t) => {
    const server = await buildWithSms(t, { env })
    const known = newNumber()
    assert.equal(await responded(server, '/signup', { phone: known, password }), 200)
    assert.equal(await responded(server, '/otp', { phone: newNumber() }), 200)
    for (const phone of [known, newNumber()]) {
      assert.equal(await responded(server, '/resend', { type: 'sms', phone }), 429)
      // The remaining sign-up quota must not reveal accounts: the response is the same and nothing is sent.
      assert.equal(await responded(server, '/otp', { phone }), 200)
      assert.equal(await responded(server, '/signup', { phone, password }), 429)
    }
  })

  test('postpones queued requests until it is refilled', async (t) => {
    const first = await buildWithSms(t, { env })
    const { sms, config } = first
    const users = [newNumber(), newNumber()]
    for (const phone of users) await call(first.app, '/signup', { phone, password })
    await first.app.jobQueue.stop()
    await first.app.pool.query(`update auth.postern_send_quotas set tokens = 1`)
    const since = sms.messages.length
    for (const phone of users) await call(first.app, '/resend', { type: 'sms', phone })
    const { DATABASE_URL } = config
    const server = await build(t, { env: { ...sms.env, ...env, DATABASE_URL } })
    await postponedUntil(server)
    assert.equal(sms.messages.length - since, 1)
    await advanceHours(server)
    for (const phone of users) await sms.code(phone, since)
  })
})
