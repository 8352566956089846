/** Row 9: asking for a repeat keeps nobody from signing up, nor from asking for another address. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  newAddress,
  newNumber,
  password,
  phonePerson,
  signedIn,
  signUp,
} from '../support/people.ts'
import { buildWithSms } from '../support/phone-journeys.ts'
import { call, changeUser } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { until } from '../support/until.ts'
import { insertPerson } from './send-quota.ts'

suite('row 9: signing up and asking for a repeat', () => {
  const servers = sharedServers()
  const env = { AUTH_SMTP_MAX_FREQUENCY: '60' }
  const resend = ({ app }: Built, email: string) => call(app, '/resend', { type: 'signup', email })

  const orders: [string, string[], number[]][] = [
    ['a repeat does not stop a sign-up', ['resend', 'signup'], [200, 200]],
    ['a sign-up stops a repeat', ['signup', 'resend'], [200, 429]],
    ['a sign-up stops a sign-up', ['signup', 'signup'], [200, 429]],
    ['a repeat stops a repeat', ['resend', 'resend'], [200, 429]],
    ['a repeat waits for the later one', ['resend', 'signup', 'resend'], [200, 200, 429]],
  ]
  for (const [name, order, expected] of orders) {
    for (const who of ['unknown', 'unconfirmed', 'confirmed']) {
      test(`${name}: ${who} address`, async () => {
        const server = await servers(env)
        const isKnown = who !== 'unknown'
        const email = isKnown ? await insertPerson(server, who === 'confirmed') : newAddress()
        const statuses = []
        for (const step of order) {
          const answer = await (step === 'signup'
            ? signUp(server.app, { email })
            : resend(server, email))
          statuses.push(answer.statusCode)
        }
        assert.deepEqual(statuses, expected)
      })
    }
  }

  test('the wait of a repeat is the longer one', async (t) => {
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

  test('a number that was asked about once more may sign up', async (t) => {
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
    assert.deepEqual(statuses, [200, 200, 429, 429])
  })
})

suite('row 9: another address and a repeat of asking for it', () => {
  test('a stranger who asks for a repeat does not stop the change, by mail', async (t) => {
    const server = await build(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '60' } })
    const email = await insertPerson(server)
    const { access_token: token } = await signedIn(server.app, email)
    const repeat = () => call(server.app, '/resend', { type: 'email_change', email })
    const change = () => changeUser(server.app, token, { email: newAddress() })
    const statuses = []
    for (const step of [repeat, change, repeat, change]) statuses.push((await step()).statusCode)
    assert.deepEqual(statuses, [200, 200, 429, 429])
  })

  test('nor by text message', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_SMS_MAX_FREQUENCY: '60' } })
    const { access_token: token, user } = await phonePerson(server)
    const { phone } = user
    const repeat = () => call(server.app, '/resend', { type: 'phone_change', phone })
    const change = () => changeUser(server.app, token, { phone: newNumber() })
    const statuses = []
    for (const step of [repeat, change, repeat, change]) statuses.push((await step()).statusCode)
    assert.deepEqual(statuses, [200, 200, 429, 429])
  })
})

suite('a repeat for somebody who has just asked for another address', () => {
  test('by mail: is answered as for nobody, and comes when it may', async (t) => {
    const server = await build(t, { env: { AUTH_SMTP_MAX_FREQUENCY: '3' } })
    const email = await insertPerson(server)
    const { access_token: token } = await signedIn(server.app, email)
    const wanted = newAddress()
    const started = Date.now()
    await changeUser(server.app, token, { email: wanted })
    const toWanted = () => server.mail.messages.filter(({ to }) => to === wanted).length
    await until(() => toWanted() === 1)

    for (const address of [email, newAddress()]) {
      const answer = await call(server.app, '/resend', { type: 'email_change', email: address })
      assert.equal(answer.statusCode, 200, answer.body)
    }

    await until(() => toWanted() === 2)
    assert.ok(Date.now() - started >= 3000)
  })

  test('by text message, alike', async (t) => {
    const server = await buildWithSms(t, {
      env: { AUTH_SMS_MAX_FREQUENCY: '3', AUTH_SMS_OTP_EXP: '60' },
    })
    const { access_token: token, user } = await phonePerson(server)
    const wanted = newNumber()
    const started = Date.now()
    await changeUser(server.app, token, { phone: wanted })
    const since = server.sms.messages.length

    for (const phone of [user.phone, newNumber()]) {
      const answer = await call(server.app, '/resend', { type: 'phone_change', phone })
      assert.equal(answer.statusCode, 200, answer.body)
    }

    await server.sms.code(wanted, since)
    assert.ok(Date.now() - started >= 3000)
  })
})
