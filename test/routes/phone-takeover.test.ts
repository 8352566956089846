/** Numbers that somebody has registered and nobody has proven, and accounts that are proven by something else. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall } from '../support/admin.ts'
import { newAddress, newNumber, password, phonePerson, signIn } from '../support/people.ts'
import {
  buildWithSms,
  codeAfter,
  type PhoneServer,
  sharedSmsServer,
} from '../support/phone-journeys.ts'
import { call, outcomeOf } from '../support/requests.ts'

const stranger = 'a password of somebody else'

suite('one number, several hands', () => {
  const shared = sharedSmsServer()

  test('ten sign-ups at once: one account, and one code that works', async () => {
    const server = await shared()
    const phone = newNumber()
    const since = server.sms.messages.length
    const signUps = Array.from({ length: 10 }, (_, index) =>
      call(server.app, '/signup', { phone, password: `${password} ${index}` }),
    )
    const answers = await Promise.all(signUps)
    assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]))
    assert.equal(new Set(answers.map((answer) => answer.json().id)).size, 1)
    const codes = server.sms.messages.slice(since).map(({ body }) => /\d{6}/.exec(body)?.[0] ?? '')
    assert.equal(codes.length, 10)
    const statuses = []
    for (const token of codes.slice(0, 10)) {
      statuses.push((await call(server.app, '/verify', { type: 'sms', phone, token })).statusCode)
    }
    assert.equal(statuses.filter((status) => status === 200).length, 1)
  })

  test('a sign-up while the code is typed leaves the password of whoever got that code', async () => {
    const server = await shared()
    const phone = newNumber()
    const token = await codeAfter(server, phone, () =>
      call(server.app, '/signup', { phone, password }),
    )
    const [verified] = await Promise.all([
      call(server.app, '/verify', { type: 'sms', phone, token }),
      call(server.app, '/signup', { phone, password: stranger }),
    ])
    const opens = await signIn(server.app, { phone, password: stranger })
    assert.equal(opens.statusCode, 400, 'nobody has proven the number together with it')
    if (verified.statusCode === 200) {
      assert.equal((await signIn(server.app, { phone })).statusCode, 200)
    } else assert.deepEqual(outcomeOf(verified), [403, 'otp_expired'])
  })

  test('an account proven by mail is not taken over by a sign-up with its number', async () => {
    const server = await shared()
    const [email, phone] = [newAddress(), newNumber()]
    const record = { email, phone, password, email_confirm: true }
    const { id } = await adminCall(server.app, 'POST', '/admin/users', record)
    const sent = server.sms.messages.length
    const answer = await call(server.app, '/signup', { phone, password: stranger })
    assert.equal(answer.statusCode, 200)
    assert.notEqual(answer.json().id, id)
    assert.equal(server.sms.messages.length, sent)

    const token = await codeAfter(server, phone, () => call(server.app, '/otp', { phone }))
    const verified = await call(server.app, '/verify', { type: 'sms', phone, token })
    assert.equal(verified.json().user?.id, id, verified.body)
    assert.deepEqual(outcomeOf(await signIn(server.app, { phone, password: stranger })), [
      400,
      'invalid_credentials',
    ])
    assert.equal((await signIn(server.app, { phone })).statusCode, 200)
  })
})

suite('numbers that were registered before the settings changed', () => {
  test('under autoconfirm only the right password opens an unconfirmed account', async (t) => {
    const before = await buildWithSms(t)
    const phone = newNumber()
    await call(before.app, '/signup', { phone, password })
    const after = await reopened(t, before, { AUTH_SMS_AUTOCONFIRM: 'true' })
    const wrong = await call(after.app, '/signup', { phone, password: stranger })
    assert.deepEqual(outcomeOf(wrong), [400, 'user_already_exists'])
    const right = await call(after.app, '/signup', { phone, password })
    assert.ok(right.json().access_token, right.body)
  })

  test('with sign-ups closed, whoever is known gets a code and strangers get the same answer', async (t) => {
    const before = await buildWithSms(t)
    const { user } = await phonePerson(before)
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
