import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { User } from '../../../schemas/user.ts'
import { buildWithSms, codeAfter, sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { newNumber, password, phoneUser, signIn } from '../../support/users.ts'

suite('POST /signup with a phone number', () => {
  const shared = sharedSmsServer()

  test('sends a code that signs in', async () => {
    const server = await shared()
    const phone = newNumber()
    const signUp = { phone: `+${phone.slice(0, 4)} ${phone.slice(4)}`, password, data: { a: 1 } }
    const response = await call(server.app, '/signup', signUp)

    const user = response.json()
    assert.equal(response.statusCode, 200, response.body)
    assert.equal(user.phone, phone)
    assert.equal(user.phone_confirmed_at, undefined)
    assert.ok(user.confirmation_sent_at)
    assert.deepEqual(user.app_metadata, { provider: 'phone', providers: ['phone'] })
    const verification = { email_verified: false, phone_verified: false }
    assert.deepEqual(user.user_metadata, { a: 1, sub: user.id, ...verification })
    assert.equal(user.identities.length, 1)
    assert.equal(user.identities[0].provider, 'phone')
    assert.deepEqual(statusAndCode(await signIn(server.app, { phone })), [
      400,
      'phone_not_confirmed',
    ])

    const token = await server.sms.code(phone)
    const verified = await call(server.app, '/verify', { type: 'sms', phone, token })
    assert.equal(verified.statusCode, 200, verified.body)
    assert.equal(verified.json().user.id, user.id)
    assert.ok(verified.json().user.phone_confirmed_at)
    assert.equal(verified.json().type, undefined)
    const signedIn = await signIn(server.app, { phone: `+${phone}` })
    assert.equal(signedIn.statusCode, 200, signedIn.body)
    assert.equal(signedIn.json().user.id, user.id)
  })

  test('ignores email claims in the user metadata', async () => {
    const server = await shared()
    const data = { email: 'victim@example.com', email_verified: true, name: 'Ann' }
    const response = await call(server.app, '/signup', { phone: newNumber(), password, data })
    const { user_metadata, identities } = response.json<User>()
    assert.equal(user_metadata.email_verified, false)
    const claims = identities?.[0]?.identity_data ?? {}
    assert.deepEqual([claims.email, claims.email_verified], [undefined, false])
    assert.equal(claims.name, 'Ann')
  })

  test('sends nothing for a confirmed number and returns a response of the same shape', async () => {
    const server = await shared()
    const { user } = await phoneUser(server)
    const sent = server.sms.messages.length
    const data = { b: 2 }
    const faux = await call(server.app, '/signup', { phone: user.phone, password, data })
    assert.equal(server.sms.messages.length, sent)
    const real = await call(server.app, '/signup', { phone: newNumber(), password, data })

    assert.equal(faux.statusCode, 200, faux.body)
    const [a, b] = [faux.json(), real.json()]
    assert.deepEqual(Object.keys(a), Object.keys(b))
    assert.notEqual(a.id, user.id)
    assert.equal(a.phone, user.phone)
    assert.equal(a.user_metadata.sub, a.id)
    assert.deepEqual(a.identities, [])
    const bare = (response: typeof a) => {
      const { identities, user_metadata, ...rest } = response
      const unlike = { id: '', phone: '', confirmation_sent_at: '', created_at: '', updated_at: '' }
      return { ...rest, ...unlike, user_metadata: { ...user_metadata, sub: '' } }
    }
    assert.deepEqual(bare(a), bare(b))
  })

  test('takes as long for a confirmed number as for a new one', async (t) => {
    // A server of its own: all its deliveries take as long.
    const server = await buildWithSms(t)
    server.sms.state.delayMs = 150
    const { user } = await phoneUser(server)
    const start = performance.now()
    await call(server.app, '/signup', { phone: user.phone, password })
    const took = performance.now() - start
    // Varied by up to a tenth.
    assert.ok(took >= 135, `the answer came after ${took} ms`)
  })

  test('AUTH_SMS_AUTOCONFIRM: returns a session, or user_already_exists for a taken number', async (t) => {
    const server = await buildWithSms(t, { env: { AUTH_SMS_AUTOCONFIRM: 'true' } })
    const phone = newNumber()
    const first = await call(server.app, '/signup', { phone, password })
    assert.equal(first.statusCode, 200, first.body)
    assert.ok(first.json().access_token)
    assert.ok(first.json().user.phone_confirmed_at)
    assert.equal(server.sms.messages.length, 0)
    for (const secret of [password, 'another password']) {
      const again = await call(server.app, '/signup', { phone, password: secret })
      assert.deepEqual(statusAndCode(again), [400, 'user_already_exists'])
      assert.equal(again.json().msg, 'User already registered')
    }
  })

  test('replaces metadata and code of an unconfirmed sign-up and drops both passwords', async () => {
    const server = await shared()
    const phone = newNumber()
    const theirs = { phone, password: 'set by another user', data: { theirs: true } }
    const old = await codeAfter(server, phone, () => call(server.app, '/signup', theirs))
    const own = { phone, password, data: { own: true } }
    const token = await codeAfter(server, phone, () => call(server.app, '/signup', own))

    const late = await call(server.app, '/verify', { type: 'sms', phone, token: old })
    assert.deepEqual(statusAndCode(late), [403, 'otp_expired'])
    const verified = await call(server.app, '/verify', { type: 'sms', phone, token })
    assert.equal(verified.json().user.user_metadata.own, true)
    assert.equal(verified.json().user.user_metadata.theirs, undefined)
    const attacker = await signIn(server.app, { phone, password: theirs.password })
    assert.deepEqual(statusAndCode(attacker), [400, 'invalid_credentials'])
    assert.deepEqual(statusAndCode(await signIn(server.app, { phone })), [
      400,
      'invalid_credentials',
    ])
  })

  test('drops the password of an unconfirmed sign-up when its owner signs in with a code', async () => {
    const server = await shared()
    const phone = newNumber()
    await call(server.app, '/signup', { phone, password })
    const token = await codeAfter(server, phone, () => call(server.app, '/otp', { phone }))
    assert.equal((await call(server.app, '/verify', { type: 'sms', phone, token })).statusCode, 200)
    assert.deepEqual(statusAndCode(await signIn(server.app, { phone })), [
      400,
      'invalid_credentials',
    ])
  })

  test('stores nothing when the provider rejects the message and allows an immediate retry', async (t) => {
    const lines: string[] = []
    const env = { AUTH_SMS_MAX_FREQUENCY: '60' }
    const server = await buildWithSms(t, { env, lines })
    const phone = newNumber()
    server.sms.state.rejects = true
    const rejected = await call(server.app, '/signup', { phone, password })
    assert.deepEqual(statusAndCode(rejected), [422, 'sms_send_failed'])
    assert.doesNotMatch(rejected.body, /cannot get/)
    const { rows } = await server.app.pool.query('select from auth.users where phone = $1', [phone])
    assert.equal(rows.length, 0)
    server.sms.state.rejects = false
    const token = await codeAfter(server, phone, () =>
      call(server.app, '/signup', { phone, password }),
    )
    assert.equal((await call(server.app, '/verify', { type: 'sms', phone, token })).statusCode, 200)
    const above = lines.filter((line) => JSON.parse(line).level !== 'debug')
    assert.ok(above.some((line) => line.includes('cannot get')))
    for (const line of above) assert.ok(!line.includes(phone) && !line.includes(token), line)
  })

  const wrong: [name: string, body: object, outcome: [number, string]][] = [
    ['no password', { phone: '15550100200' }, [400, 'validation_failed']],
    ['weak password', { phone: '15550100200', password: 'x' }, [422, 'weak_password']],
    ['hyphens', { phone: '+1-555-0100200', password }, [400, 'validation_failed']],
    ['brackets', { phone: '+1 (555) 0100200', password }, [400, 'validation_failed']],
    ['a leading zero', { phone: '015550100200', password }, [400, 'validation_failed']],
    ['too long', { phone: '1234567890123456', password }, [400, 'validation_failed']],
    ['too short', { phone: '1', password }, [400, 'validation_failed']],
    ['two pluses', { phone: '++15550100200', password }, [400, 'validation_failed']],
    ['other digits', { phone: '١٥٥٥٠١٠٠', password }, [400, 'validation_failed']],
    ['both', { phone: '15550100200', email: 'a@b.c', password }, [400, 'validation_failed']],
    ['channel', { phone: '15550100200', password, channel: 'fax' }, [400, 'validation_failed']],
    [
      'PKCE',
      { phone: '15550100200', password, code_challenge: 'x'.repeat(43) },
      [400, 'validation_failed'],
    ],
  ]

  test('returns invalid_credentials for a sign-in with an invalid number', async () => {
    const { app } = await shared()
    for (const phone of ['ann', '+1-555-010-0200', '0555']) {
      assert.deepEqual(statusAndCode(await signIn(app, { phone })), [400, 'invalid_credentials'])
    }
  })

  test('rejects invalid requests before sending', async () => {
    const server = await shared()
    const sent = server.sms.messages.length
    for (const [name, body, outcome] of wrong) {
      assert.deepEqual(statusAndCode(await call(server.app, '/signup', body)), outcome, name)
    }
    assert.equal(server.sms.messages.length, sent)
  })

  const switches: [env: Record<string, string>, outcome: [number, string]][] = [
    [{ AUTH_EXTERNAL_PHONE_ENABLED: 'false' }, [400, 'phone_provider_disabled']],
    [{ AUTH_DISABLE_SIGNUP: 'true' }, [422, 'signup_disabled']],
  ]
  for (const [env, outcome] of switches) {
    test(`is rejected with ${JSON.stringify(env)}`, async (t) => {
      const server = await buildWithSms(t, { env })
      const response = await call(server.app, '/signup', { phone: newNumber(), password })
      assert.deepEqual(statusAndCode(response), outcome)
      assert.equal(server.sms.messages.length, 0)
    })
  }
})
