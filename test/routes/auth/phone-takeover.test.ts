/** Unverified phone numbers, and numbers of accounts verified by other means. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall } from '../../support/admin.ts'
import {
  buildWithSms,
  codeAfter,
  type PhoneServer,
  sharedSmsServer,
} from '../../support/messages/phone-journeys.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { newAddress, newNumber, password, phoneUser, signIn } from '../../support/users.ts'

const attacker = 'a password of another user'

suite('phone sign-up: account takeover', () => {
  const shared = sharedSmsServer()

  test('creates one account with one valid code when ten sign-ups race', async () => {
    const server = await shared()
    const phone = newNumber()
    const since = server.sms.messages.length
    const signUps = Array.from({ length: 10 }, (_, index) =>
      call(server.app, '/signup', { phone, password: `${password} ${index}` }),
    )
    const responses = await Promise.all(signUps)
    assert.deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]))
    assert.equal(new Set(responses.map((response) => response.json().id)).size, 1)
    const codes = server.sms.messages.slice(since).map(({ body }) => /\d{6}/.exec(body)?.[0] ?? '')
    assert.equal(codes.length, 10)
    const statuses = []
    for (const token of codes.slice(0, 10)) {
      statuses.push((await call(server.app, '/verify', { type: 'sms', phone, token })).statusCode)
    }
    assert.equal(statuses.filter((status) => status === 200).length, 1)
  })

  test('keeps the password of the verified user when a sign-up races the verification', async () => {
    const server = await shared()
    const phone = newNumber()
    const token = await codeAfter(server, phone, () =>
      call(server.app, '/signup', { phone, password }),
    )
    const [verified] = await Promise.all([
      call(server.app, '/verify', { type: 'sms', phone, token }),
      call(server.app, '/signup', { phone, password: attacker }),
    ])
    const opens = await signIn(server.app, { phone, password: attacker })
    assert.equal(opens.statusCode, 400, 'the number was never verified together with it')
    if (verified.statusCode === 200) {
      assert.equal((await signIn(server.app, { phone })).statusCode, 200)
    } else assert.deepEqual(statusAndCode(verified), [403, 'otp_expired'])
  })

  test('does not give an account verified by email to a sign-up with its number', async () => {
    const server = await shared()
    const [email, phone] = [newAddress(), newNumber()]
    const record = { email, phone, password, email_confirm: true }
    const { id } = await adminCall(server.app, 'POST', '/admin/users', record)
    const sent = server.sms.messages.length
    const response = await call(server.app, '/signup', { phone, password: attacker })
    assert.equal(response.statusCode, 200)
    assert.notEqual(response.json().id, id)
    assert.equal(server.sms.messages.length, sent)

    const token = await codeAfter(server, phone, () => call(server.app, '/otp', { phone }))
    const verified = await call(server.app, '/verify', { type: 'sms', phone, token })
    assert.equal(verified.json().user?.id, id, verified.body)
    assert.deepEqual(statusAndCode(await signIn(server.app, { phone, password: attacker })), [
      400,
      'invalid_credentials',
    ])
    assert.equal((await signIn(server.app, { phone })).statusCode, 200)
  })
})

suite('phone sign-up after a change of settings', () => {
  test('AUTH_SMS_AUTOCONFIRM: signs in to an unconfirmed account with its password only', async (t) => {
    const before = await buildWithSms(t)
    const phone = newNumber()
    await call(before.app, '/signup', { phone, password })
    const after = await reopened(t, before, { AUTH_SMS_AUTOCONFIRM: 'true' })
    const wrong = await call(after.app, '/signup', { phone, password: attacker })
    assert.deepEqual(statusAndCode(wrong), [400, 'user_already_exists'])
    const right = await call(after.app, '/signup', { phone, password })
    assert.ok(right.json().access_token, right.body)
  })

  test('AUTH_DISABLE_SIGNUP: sends SMS to known numbers and returns {} for unknown numbers', async (t) => {
    const before = await buildWithSms(t)
    const { user } = await phoneUser(before)
    const after = await reopened(t, before, { AUTH_DISABLE_SIGNUP: 'true' })
    const unknown = await call(after.app, '/otp', { phone: newNumber() })
    assert.deepEqual([unknown.statusCode, unknown.json()], [200, {}])
    assert.equal(after.sms.messages.length, 0)
    const { phone } = user
    const token = await codeAfter(after, phone, () => call(after.app, '/otp', { phone }))
    assert.equal((await call(after.app, '/verify', { type: 'sms', phone, token })).statusCode, 200)
  })
})

function reopened(
  t: Parameters<typeof buildWithSms>[0],
  { config }: PhoneServer,
  env: Record<string, string>,
) {
  return buildWithSms(t, { env: { ...env, DATABASE_URL: config.DATABASE_URL ?? '' } })
}
