/** Phones as second factors: codes by SMS message. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import {
  challenge,
  type Enrolled,
  everyFactor,
  request,
  send,
  tokenClaims,
  verifyChallenge,
} from '../../support/factors/factors.ts'
import { type PhoneServer, sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { statusAndCode } from '../../support/requests.ts'
import { newNumber, signUpUser } from '../../support/users.ts'

suite('phone factor', () => {
  const server = sharedSmsServer({ env: everyFactor })
  const waiting = sharedSmsServer({ env: { ...everyFactor, AUTH_MFA_PHONE_MAX_FREQUENCY: '1h' } })
  const scarce = sharedSmsServer({ env: { ...everyFactor, AUTH_RATE_LIMIT_SMS_SENT: '1' } })
  const customText = sharedSmsServer({
    env: {
      ...everyFactor,
      AUTH_MFA_PHONE_OTP_LENGTH: '8',
      AUTH_MFA_PHONE_TEMPLATE: 'Second step: {{ .Code }}',
      AUTH_SMS_TEST_OTP: '15550100999:12345678',
    },
  })

  test('is verified by the texted code', async () => {
    const { app, sms } = await server()
    const user = await signUpUser(app)
    const number = newNumber()
    const sent = `+${number.slice(0, 4)} ${number.slice(4)}`
    const factor = await enrol(await server(), user, sent)
    assert.deepEqual([factor.type, factor.phone], ['phone', sent])

    const since = sms.messages.length
    const pending = await challenge(app, user, factor.id, { channel: 'sms' })
    const code = await sms.code(number, since)
    const wrong = await verifyChallenge(app, user, factor.id, {
      challenge_id: pending.id,
      code: `${code}0`,
    })
    assert.deepEqual(statusAndCode(wrong), [422, 'mfa_verification_failed'])
    assert.equal(wrong.json().msg, 'Invalid MFA Phone code entered')
    const session = await finish(await server(), user, factor.id, pending.id, code)
    assert.equal(tokenClaims(session).aal, 'aal2')
    assert.equal(tokenClaims(session).amr[0]?.method, 'mfa/phone')
    assert.equal(session.user.factors?.[0]?.phone, number)
    const again = await verifyChallenge(app, session, factor.id, { challenge_id: pending.id, code })
    assert.deepEqual(statusAndCode(again), [422, 'mfa_ip_address_mismatch'])
  })

  test('stores the code encrypted', async () => {
    const { app, requested, code } = await requester(await server())
    const { rows } = await app.pool.query(
      'select otp_code from auth.mfa_challenges where id = $1',
      [requested.id],
    )
    assert.equal(JSON.parse(rows[0].otp_code).alg, 'aes-gcm-hkdf')
    assert.ok(!rows[0].otp_code.includes(code))
  })

  test('rejects a code of another challenge', async () => {
    const { app, sms } = await server()
    const user = await signUpUser(app)
    const number = newNumber()
    const { id } = await enrol(await server(), user, number)
    const [first, second] = [await challenge(app, user, id), await challenge(app, user, id)]
    const code = /\d{6}/.exec(sms.messages.at(-2)?.body ?? '')?.[0]
    if (code === (await sms.code(number))) return
    const response = await verifyChallenge(app, user, id, { challenge_id: second.id, code })
    assert.deepEqual(statusAndCode(response), [422, 'mfa_verification_failed'])
    await finish(await server(), user, id, first.id, code ?? '')
  })

  test('rejects a code after an admin changed the number', async () => {
    const { app, user, id, requested, code } = await requester(await server())
    const path = `/admin/users/${user.user.id}/factors/${id}`
    await adminCall(app, 'PUT', path, { phone: newNumber() })
    const late = await verifyChallenge(app, user, id, { challenge_id: requested.id, code })
    assert.deepEqual(statusAndCode(late), [422, 'mfa_factor_not_found'])
  })

  test('rejects the number of a verified factor and accepts that of an unverified one', async () => {
    const number = newNumber()
    const { app } = await server()
    const user = await signUpUser(app)
    await enrol(await server(), user, number, 'first try')
    const { id } = await enrol(await server(), user, number, 'second try')
    const session = await verified(await server(), user, id, number)
    const body = { factor_type: 'phone', phone: number, friendly_name: 'third try' }
    const rejected = await send(app, 'POST', '/factors', session, body)
    assert.deepEqual(statusAndCode(rejected), [422, 'mfa_verified_factor_exists'])
    assert.deepEqual(
      session.user.factors?.map(({ friendly_name }) => friendly_name),
      ['second try'],
    )
  })

  for (const phone of ['', 'x', '+0123', '123456789012345678']) {
    test(`rejects the number "${phone}"`, async () => {
      const { app } = await server()
      const user = await signUpUser(app)
      const response = await send(app, 'POST', '/factors', user, { factor_type: 'phone', phone })
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
    })
  }

  test('rejects an unknown channel', async () => {
    const { app } = await server()
    const user = await signUpUser(app)
    const { id } = await enrol(await server(), user, newNumber())
    const url = `/factors/${id}/challenge`
    const response = await send(app, 'POST', url, user, { channel: 'pigeon' })
    assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
  })

  test('AUTH_MFA_PHONE_MAX_FREQUENCY throttles a factor and no other account', async () => {
    const { app } = await waiting()
    const number = newNumber()
    const owner = await signUpUser(app)
    const { id } = await enrol(await waiting(), owner, number)
    const session = await verified(await waiting(), owner, id, number)
    const intruder = await signUpUser(app)
    const theirs = await enrol(await waiting(), intruder, number)
    const early = await send(app, 'POST', `/factors/${theirs.id}/challenge`, intruder)
    assert.deepEqual(statusAndCode(early), [429, 'over_sms_send_rate_limit'])
    await challenge(app, session, id)
    const again = await send(app, 'POST', `/factors/${id}/challenge`, session)
    assert.deepEqual(statusAndCode(again), [429, 'over_sms_send_rate_limit'])
    assert.ok(Number(again.headers['retry-after']) > 3500)
  })

  test('AUTH_RATE_LIMIT_SMS_SENT counts factor messages', async () => {
    const { app } = await scarce()
    const user = await signUpUser(app)
    const { id } = await enrol(await scarce(), user, newNumber())
    await challenge(app, user, id)
    const response = await send(app, 'POST', `/factors/${id}/challenge`, user)
    assert.deepEqual(statusAndCode(response), [429, 'over_sms_send_rate_limit'])
  })

  test('applies AUTH_MFA_PHONE_OTP_LENGTH and AUTH_MFA_PHONE_TEMPLATE and ignores test OTPs', async () => {
    const { app, sms } = await customText()
    const user = await signUpUser(app)
    const { id } = await enrol(await customText(), user, '15550100999')
    const pending = await challenge(app, user, id)
    assert.match(sms.messages.at(-1)?.body ?? '', /^Second step: \d{8}$/)
    const fixed = await verifyChallenge(app, user, id, {
      challenge_id: pending.id,
      code: '12345678',
    })
    assert.deepEqual(statusAndCode(fixed), [422, 'mfa_verification_failed'])
  })

  test('creates no challenge when the provider rejects the message, and allows a retry', async () => {
    const { app, sms } = await waiting()
    const user = await signUpUser(app)
    const { id } = await enrol(await waiting(), user, newNumber())
    sms.state.rejects = true
    const url = `/factors/${id}/challenge`
    const rejected = await send(app, 'POST', url, user)
    sms.state.rejects = false
    assert.deepEqual(statusAndCode(rejected), [422, 'sms_send_failed'])
    await challenge(app, user, id)
  })
})

function enrol({ app }: PhoneServer, token: Session, phone: string, name = ''): Promise<Enrolled> {
  const body = { factor_type: 'phone', phone, friendly_name: name }
  return request(app, 'POST', '/factors', token, body)
}

/** A user with a code sent to an unverified number. */
async function requester(server: PhoneServer) {
  const { app, sms } = server
  const user = await signUpUser(app)
  const number = newNumber()
  const { id } = await enrol(server, user, number)
  const since = sms.messages.length
  const pending = await challenge(app, user, id)
  const code = await sms.code(number, since)
  return { app, user, id, requested: pending, code }
}

async function finish(
  { app }: PhoneServer,
  token: Session,
  factorId: string,
  challenge_id: string,
  code: string,
): Promise<Session> {
  const response = await verifyChallenge(app, token, factorId, { challenge_id, code })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

async function verified(server: PhoneServer, token: Session, id: string, number: string) {
  const since = server.sms.messages.length
  const pending = await challenge(server.app, token, id)
  return finish(server, token, id, pending.id, await server.sms.code(number, since))
}
