/** Phones as second factors: codes by text message. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { adminCall } from '../support/admin.ts'
import {
  answer,
  ask,
  challenge,
  claimsOf,
  type Enrolled,
  everyFactor,
  send,
} from '../support/factors.ts'
import { newNumber, newPerson } from '../support/people.ts'
import { type PhoneServer, sharedSmsServer } from '../support/phone-journeys.ts'
import { outcomeOf } from '../support/requests.ts'

suite('a phone as second factor', () => {
  const server = sharedSmsServer({ env: everyFactor })
  const waiting = sharedSmsServer({ env: { ...everyFactor, AUTH_MFA_PHONE_MAX_FREQUENCY: '1h' } })
  const scarce = sharedSmsServer({ env: { ...everyFactor, AUTH_RATE_LIMIT_SMS_SENT: '1' } })
  const worded = sharedSmsServer({
    env: {
      ...everyFactor,
      AUTH_MFA_PHONE_OTP_LENGTH: '8',
      AUTH_MFA_PHONE_TEMPLATE: 'Second step: {{ .Code }}',
      AUTH_SMS_TEST_OTP: '15550100999:12345678',
    },
  })

  test('is proven by the code that was sent to it', async () => {
    const { app, sms } = await server()
    const person = await newPerson(app)
    const number = newNumber()
    const sent = `+${number.slice(0, 4)} ${number.slice(4)}`
    const factor = await enrol(await server(), person, sent)
    assert.deepEqual([factor.type, factor.phone], ['phone', sent])

    const since = sms.messages.length
    const asked = await challenge(app, person, factor.id, { channel: 'sms' })
    const code = await sms.code(number, since)
    const wrong = await answer(app, person, factor.id, { challenge_id: asked.id, code: `${code}0` })
    assert.deepEqual(outcomeOf(wrong), [422, 'mfa_verification_failed'])
    assert.equal(wrong.json().msg, 'Invalid MFA Phone code entered')
    const session = await finish(await server(), person, factor.id, asked.id, code)
    assert.equal(claimsOf(session).aal, 'aal2')
    assert.equal(claimsOf(session).amr[0]?.method, 'mfa/phone')
    assert.equal(session.user.factors?.[0]?.phone, number)
    const again = await answer(app, session, factor.id, { challenge_id: asked.id, code })
    assert.deepEqual(outcomeOf(again), [422, 'mfa_ip_address_mismatch'])
  })

  test('the code is stored encrypted', async () => {
    const { app, asked, code } = await asking(await server())
    const { rows } = await app.pool.query(
      'select otp_code from auth.mfa_challenges where id = $1',
      [asked.id],
    )
    assert.equal(JSON.parse(rows[0].otp_code).alg, 'aes-gcm-hkdf')
    assert.ok(!rows[0].otp_code.includes(code))
  })

  test('a code is good for its own challenge', async () => {
    const { app, sms } = await server()
    const person = await newPerson(app)
    const number = newNumber()
    const { id } = await enrol(await server(), person, number)
    const [first, second] = [await challenge(app, person, id), await challenge(app, person, id)]
    const code = /\d{6}/.exec(sms.messages.at(-2)?.body ?? '')?.[0]
    if (code === (await sms.code(number))) return
    const response = await answer(app, person, id, { challenge_id: second.id, code })
    assert.deepEqual(outcomeOf(response), [422, 'mfa_verification_failed'])
    await finish(await server(), person, id, first.id, code ?? '')
  })

  test('a code proves nothing once an admin has given the factor another number', async () => {
    const { app, person, id, asked, code } = await asking(await server())
    const path = `/admin/users/${person.user.id}/factors/${id}`
    await adminCall(app, 'PUT', path, { phone: newNumber() })
    const late = await answer(app, person, id, { challenge_id: asked.id, code })
    assert.deepEqual(outcomeOf(late), [422, 'mfa_factor_not_found'])
  })

  test('a number that is a verified factor already cannot be enrolled again; one that is not, can', async () => {
    const number = newNumber()
    const { app } = await server()
    const person = await newPerson(app)
    await enrol(await server(), person, number, 'first try')
    const { id } = await enrol(await server(), person, number, 'second try')
    const session = await proven(await server(), person, id, number)
    const body = { factor_type: 'phone', phone: number, friendly_name: 'third try' }
    const refused = await send(app, 'POST', '/factors', session, body)
    assert.deepEqual(outcomeOf(refused), [422, 'mfa_verified_factor_exists'])
    assert.deepEqual(
      session.user.factors?.map(({ friendly_name }) => friendly_name),
      ['second try'],
    )
  })

  for (const phone of ['', 'x', '+0123', '123456789012345678']) {
    test(`the number "${phone}" is refused`, async () => {
      const { app } = await server()
      const person = await newPerson(app)
      const response = await send(app, 'POST', '/factors', person, { factor_type: 'phone', phone })
      assert.deepEqual(outcomeOf(response), [400, 'validation_failed'])
    })
  }

  test('an unknown channel is refused', async () => {
    const { app } = await server()
    const person = await newPerson(app)
    const { id } = await enrol(await server(), person, newNumber())
    const url = `/factors/${id}/challenge`
    const response = await send(app, 'POST', url, person, { channel: 'pigeon' })
    assert.deepEqual(outcomeOf(response), [400, 'validation_failed'])
  })

  test('AUTH_MFA_PHONE_MAX_FREQUENCY: a factor waits, and keeps no other account waiting', async () => {
    const { app } = await waiting()
    const number = newNumber()
    const owner = await newPerson(app)
    const { id } = await enrol(await waiting(), owner, number)
    const session = await proven(await waiting(), owner, id, number)
    const intruder = await newPerson(app)
    const theirs = await enrol(await waiting(), intruder, number)
    const early = await send(app, 'POST', `/factors/${theirs.id}/challenge`, intruder)
    assert.deepEqual(outcomeOf(early), [429, 'over_sms_send_rate_limit'])
    await challenge(app, session, id)
    const again = await send(app, 'POST', `/factors/${id}/challenge`, session)
    assert.deepEqual(outcomeOf(again), [429, 'over_sms_send_rate_limit'])
    assert.ok(Number(again.headers['retry-after']) > 3500)
  })

  test('AUTH_RATE_LIMIT_SMS_SENT counts these messages, too', async () => {
    const { app } = await scarce()
    const person = await newPerson(app)
    const { id } = await enrol(await scarce(), person, newNumber())
    await challenge(app, person, id)
    const response = await send(app, 'POST', `/factors/${id}/challenge`, person)
    assert.deepEqual(outcomeOf(response), [429, 'over_sms_send_rate_limit'])
  })

  test('AUTH_MFA_PHONE_OTP_LENGTH, AUTH_MFA_PHONE_TEMPLATE, and no fixed codes', async () => {
    const { app, sms } = await worded()
    const person = await newPerson(app)
    const { id } = await enrol(await worded(), person, '15550100999')
    const asked = await challenge(app, person, id)
    assert.match(sms.messages.at(-1)?.body ?? '', /^Second step: \d{8}$/)
    const fixed = await answer(app, person, id, { challenge_id: asked.id, code: '12345678' })
    assert.deepEqual(outcomeOf(fixed), [422, 'mfa_verification_failed'])
  })

  test('a message that was not accepted leaves no challenge, and the person may ask again', async () => {
    const { app, sms } = await waiting()
    const person = await newPerson(app)
    const { id } = await enrol(await waiting(), person, newNumber())
    sms.state.refuses = true
    const url = `/factors/${id}/challenge`
    const refused = await send(app, 'POST', url, person)
    sms.state.refuses = false
    assert.deepEqual(outcomeOf(refused), [422, 'sms_send_failed'])
    await challenge(app, person, id)
  })
})

function enrol({ app }: PhoneServer, token: Session, phone: string, name = ''): Promise<Enrolled> {
  const body = { factor_type: 'phone', phone, friendly_name: name }
  return ask(app, 'POST', '/factors', token, body)
}

/** Somebody who was sent a code to a number that is not proven yet. */
async function asking(server: PhoneServer) {
  const { app, sms } = server
  const person = await newPerson(app)
  const number = newNumber()
  const { id } = await enrol(server, person, number)
  const since = sms.messages.length
  const asked = await challenge(app, person, id)
  const code = await sms.code(number, since)
  return { app, person, id, asked, code }
}

async function finish(
  { app }: PhoneServer,
  token: Session,
  factorId: string,
  challenge_id: string,
  code: string,
): Promise<Session> {
  const response = await answer(app, token, factorId, { challenge_id, code })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

async function proven(server: PhoneServer, token: Session, id: string, number: string) {
  const since = server.sms.messages.length
  const asked = await challenge(server.app, token, id)
  return finish(server, token, id, asked.id, await server.sms.code(number, since))
}
