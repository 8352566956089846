/** SEND_SMS: the operator sends SMS messages, with a receiver in the form that guides for such hooks show. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  challenge,
  type Enrolled,
  everyFactor,
  request,
  verifyChallenge,
} from '../../../support/factors/factors.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { call, statusAndCode, verify } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import { newNumber, signUp, signUpUser } from '../../../support/users.ts'
import {
  type HookEvent,
  startHookReceiver,
  userIn,
} from '../../../support/webhooks/hook-receiver.ts'

suite('send SMS hook over HTTP', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const receiver = await startHookReceiver(ending)
    const env = {
      ...everyFactor,
      ...receiver.env('SEND_SMS'),
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_SMS_MAX_FREQUENCY: '0',
      AUTH_RATE_LIMIT_SMS_SENT: '1000',
      AUTH_MFA_PHONE_MAX_FREQUENCY: '0',
    }
    return { ...(await build(ending, { env })), receiver }
  }

  const toNumber = (phone: string) => (event: HookEvent) => Object(event.sms).phone === phone

  test('receives the code and the user, new or known', async () => {
    const { app, receiver } = await started
    const phone = newNumber()
    await signUp(app, { phone }, { data: { locale: 'de' } })
    const event = await receiver.next(0, toNumber(phone))
    assert.deepEqual(Object.keys(Object(event.sms)), ['otp', 'phone'])
    assert.equal(userIn(event).phone, phone)
    assert.deepEqual(userIn(event).user_metadata, { locale: 'de' })
    assert.deepEqual(userIn(event).app_metadata, { provider: 'phone', providers: ['phone'] })
    const { otp: token } = Object(event.sms)
    const session = (await verify(app, { type: 'sms', phone, token })).json()
    assert.equal(session.user.phone, phone)

    const since = receiver.calls.length
    await call(app, '/otp', { phone, channel: 'whatsapp' })
    assert.equal(userIn(await receiver.next(since, toNumber(phone))).id, session.user.id)
  })

  test('marks messages with a factor code', async () => {
    const { app, receiver } = await started
    const user = await signUpUser(app)
    const phone = newNumber()
    const payload = { factor_type: 'phone', phone }
    const { id } = await request<Enrolled>(app, 'POST', '/factors', user, payload)
    const { id: challenge_id } = await challenge(app, user, id)
    const event = await receiver.next(0, toNumber(phone))
    assert.equal(Object(event.sms).sms_type, 'mfa')
    assert.equal(userIn(event).id, user.user.id)
    const code = Object(event.sms).otp
    assert.equal((await verifyChallenge(app, user, id, { challenge_id, code })).statusCode, 200)
  })

  test('is called for any channel, which SMS providers would reject', async () => {
    const { app, receiver } = await started
    const user = await signUpUser(app)
    const phone = newNumber()
    const payload = { factor_type: 'phone', phone }
    const { id } = await request<Enrolled>(app, 'POST', '/factors', user, payload)
    await challenge(app, user, id, { channel: 'signal' })
    assert.equal(Object((await receiver.next(0, toNumber(phone))).sms).sms_type, 'mfa')

    const other = newNumber()
    assert.equal((await call(app, '/otp', { phone: other, channel: 'signal' })).statusCode, 200)
    assert.ok(await receiver.next(0, toNumber(other)))
  })

  test('returns errors to the client, who can retry immediately', async () => {
    const { app, receiver } = await started
    const phone = newNumber()
    receiver.answer({ error: { http_code: 429, message: 'Too many messages' } })
    const rejected = await call(app, '/otp', { phone })
    assert.deepEqual(
      [...statusAndCode(rejected), rejected.json().msg],
      [429, 'unknown', 'Too many messages'],
    )
    receiver.answer({})
    assert.equal((await call(app, '/otp', { phone })).statusCode, 200)
  })
})
