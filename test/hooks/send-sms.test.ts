/** SEND_SMS: the operator texts, with a receiver in the form that guides for such hooks show. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { endingOfSuite } from '../support/ending.ts'
import { answer, ask, challenge, type Enrolled, everyFactor } from '../support/factors.ts'
import { type HookEvent, startHookReceiver, userIn } from '../support/hook-receiver.ts'
import { newNumber, newPerson, signUp } from '../support/people.ts'
import { call, outcomeOf, verify } from '../support/requests.ts'
import { build } from '../support/server.ts'

suite('the send SMS hook over HTTP', () => {
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

  test('is given the code and the person, new or known', async () => {
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

  test('the code of a factor says so', async () => {
    const { app, receiver } = await started
    const person = await newPerson(app)
    const phone = newNumber()
    const payload = { factor_type: 'phone', phone }
    const { id } = await ask<Enrolled>(app, 'POST', '/factors', person, payload)
    const { id: challenge_id } = await challenge(app, person, id)
    const event = await receiver.next(0, toNumber(phone))
    assert.equal(Object(event.sms).sms_type, 'mfa')
    assert.equal(userIn(event).id, person.user.id)
    const code = Object(event.sms).otp
    assert.equal((await answer(app, person, id, { challenge_id, code })).statusCode, 200)
  })

  test('its errors reach the caller, who may ask again at once', async () => {
    const { app, receiver } = await started
    const phone = newNumber()
    receiver.answer({ error: { http_code: 429, message: 'Too many messages' } })
    const refused = await call(app, '/otp', { phone })
    assert.deepEqual(
      [...outcomeOf(refused), refused.json().msg],
      [429, 'unknown', 'Too many messages'],
    )
    receiver.answer({})
    assert.equal((await call(app, '/otp', { phone })).statusCode, 200)
  })
})
