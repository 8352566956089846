/** A resend delays neither a sign-up nor an email or phone change. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { buildWithSms } from '../../support/messages/phone-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { until } from '../../support/processes/until.ts'
import { call, changeUser } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import {
  newAddress,
  newNumber,
  password,
  phoneUser,
  signedIn,
  signUp,
} from '../../support/users.ts'
import { insertUser } from './quota-settings.ts'

suite('sign-up and resend', () => {
  const servers = sharedServers()
  const env = { AUTH_SMTP_MAX_FREQUENCY: '60' }
  const resend = ({ app }: Built, email: string) => call(app, '/resend', { type: 'signup', email })

  const orders: [string, string[], number[]][] = [
    ['resend does not delay a sign-up', ['resend', 'signup'], [200, 200]],
    ['sign-up delays a resend', ['signup', 'resend'], [200, 429]],
    ['sign-up delays a sign-up', ['signup', 'signup'], [200, 429]],
    ['resend delays a resend', ['resend', 'resend'], [200, 429]],
    ['resend after both is delayed', ['resend', 'signup', 'resend'], [200, 200, 429]],
  ]
  for (const [name, order, expected] of orders) {
    for (const who of ['unknown', 'unconfirmed', 'confirmed']) {
      test(`${name} when the email is ${who}`, async () => {
        const server = await servers(env)
        const isKnown = who !== 'unknown'
        const email = isKnown ? await insertUser(server, who === 'confirmed') : newAddress()
        const statuses = []
        for (const step of order) {
          const response = await (step === 'signup'
            ? signUp(server.app, { email })
            : resend(server, email))
          statuses.push(response.statusCode)
        }
        assert.deepEqual(statuses, expected)
      })
    }
  }

  test('resend reports the longer wait', async (t) => {
    const server = await servers(env)
    const email = newAddress()
    const start = Date.now()
    await resend(server, email)
    t.mock.timers.enable({ apis: ['Date'], now: start + 40_000 })
    await signUp(server.app, { email })
    assert.equal((await resend(server, email)).headers['retry-after'], '60')
    t.mock.timers.setTime(start + 70_000)
    assert.equal((await resend(server, email)).headers['retry-after'], '30')
    t.mock.timers.setTime(start + 101_000)
    assert.equal((await resend(server, email)).statusCode, 200)
  })

  test('resend does not delay a phone sign-up', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_SMS_MAX_FREQUENCY: '60' } })
    const phone = newNumber()
    const steps: [string, object][] = [
      ['/resend', { type: 'sms', phone }],
      ['/signup', { phone, password }],
      ['/resend', { type: 'sms', phone }],
      ['/otp', { phone }],
    ]
    const statuses = []
    for (const [path, body] of steps) statuses.push((await call(server.app, path, body)).statusCode)
    assert.deepEqual(statuses, [200, 200, 200, 429])
  })
})

suite('change and resend', () => {
  test('email: an attacker’s resend does not delay the change', async (t) => {
    const server = await build(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '60' } })
    const email = await insertUser(server)
    const { access_token: token } = await signedIn(server.app, email)
    const repeat = () => call(server.app, '/resend', { type: 'email_change', email })
    const change = () => changeUser(server.app, token, { email: newAddress() })
    const statuses = []
    for (const step of [repeat, change, repeat, change]) statuses.push((await step()).statusCode)
    assert.deepEqual(statuses, [200, 200, 429, 429])
  })

  test('phone: an attacker’s resend does not delay the change', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_SMS_MAX_FREQUENCY: '60' } })
    const { access_token: token, user } = await phoneUser(server)
    const { phone } = user
    const repeat = () => call(server.app, '/resend', { type: 'phone_change', phone })
    const change = () => changeUser(server.app, token, { phone: newNumber() })
    const statuses = []
    for (const step of [repeat, change, repeat, change]) statuses.push((await step()).statusCode)
    assert.deepEqual(statuses, [200, 200, 200, 429])
  })
})

suite('resend right after a change request', () => {
  test('email: responds as for an unknown email and sends after the interval', async (t) => {
    const server = await build(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '3' } })
    const email = await insertUser(server)
    const { access_token: token } = await signedIn(server.app, email)
    const newValue = newAddress()
    const started = Date.now()
    await changeUser(server.app, token, { email: newValue })
    const toWanted = () => server.mail.messages.filter(({ to }) => to === newValue).length
    await until(() => toWanted() === 1)

    for (const address of [email, newAddress()]) {
      const response = await call(server.app, '/resend', { type: 'email_change', email: address })
      assert.equal(response.statusCode, 200, response.body)
    }

    await until(() => toWanted() === 2)
    assert.ok(Date.now() - started >= 3000)
  })

  test('phone: responds as for an unknown phone and sends after the interval', async (t) => {
    const server = await buildWithSms(t, {
      env: { AUTH_SMS_MAX_FREQUENCY: '3', AUTH_SMS_OTP_EXP: '60' },
    })
    const { access_token: token, user } = await phoneUser(server)
    const newValue = newNumber()
    const started = Date.now()
    await changeUser(server.app, token, { phone: newValue })
    const since = server.sms.messages.length

    for (const phone of [user.phone, newNumber()]) {
      const response = await call(server.app, '/resend', { type: 'phone_change', phone })
      assert.equal(response.statusCode, 200, response.body)
    }

    await server.sms.code(newValue, since)
    assert.ok(Date.now() - started >= 3000)
  })
})
