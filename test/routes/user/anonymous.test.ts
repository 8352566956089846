import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { emailAfter, open } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import {
  buildWithSms,
  codeAfter,
  type PhoneServer,
  sharedSmsServer,
} from '../../support/messages/phone-journeys.ts'
import { call, changeUser, getUser, refresh, statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import {
  anonymousUser,
  newAddress,
  newNumber,
  password,
  phoneUser,
  signIn,
} from '../../support/users.ts'

const switchedOn = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

suite('POST /signup without email and phone', () => {
  const shared = sharedSmsServer({ env: switchedOn })

  test('creates an anonymous user with a session', async () => {
    const { user, access_token } = await anonymousUser((await shared()).app, {
      data: { theme: 'dark' },
    })
    assert.equal(user.is_anonymous, true)
    assert.deepEqual([user.email, user.phone], ['', ''])
    assert.deepEqual([user.app_metadata, user.user_metadata], [{}, { theme: 'dark' }])
    assert.deepEqual(user.identities, [])
    const { is_anonymous, amr } = decodeJwt<{ amr: { method: string }[] }>(access_token)
    assert.deepEqual([is_anonymous, amr[0]?.method], [true, 'anonymous'])
  })

  test('ignores a password without email or phone', async () => {
    const server = await shared()
    const session = await anonymousUser(server.app, { password })
    assert.equal(session.user.is_anonymous, true)
    const later = await changeUser(server.app, session.access_token, {
      password: 'another password',
    })
    assert.deepEqual(statusAndCode(later), [422, 'validation_failed'])
  })

  const off: [env: Record<string, string>, code: string][] = [
    [{}, 'anonymous_provider_disabled'],
    [{ AUTH_DISABLE_SIGNUP: 'true' }, 'anonymous_provider_disabled'],
    [{ ...switchedOn, AUTH_DISABLE_SIGNUP: 'true' }, 'signup_disabled'],
  ]
  for (const [env, code] of off) {
    test(`is rejected with ${JSON.stringify(env)}`, async (t) => {
      const { app } = await build(t, { env })
      assert.deepEqual(statusAndCode(await call(app, '/signup', {})), [422, code])
    })
  }

  test('has a separate rate limit', async (t) => {
    const env = {
      ...switchedOn,
      AUTH_RATE_LIMIT_HEADER: 'x-client',
      AUTH_RATE_LIMIT_ANONYMOUS_USERS: '2',
    }
    const { app } = await build(t, { env })
    const send = (payload: object, client = '192.0.2.1') =>
      call(app, '/signup', payload, { headers: { 'x-client': client } })
    for (const data of [{ a: 1 }, { a: 2 }]) assert.equal((await send({ data })).statusCode, 200)
    assert.deepEqual(statusAndCode(await send({ data: {} })), [429, 'over_request_rate_limit'])
    assert.equal((await send({ data: {} }, '192.0.2.2')).statusCode, 200)
    assert.equal((await send({ email: newAddress(), password })).statusCode, 200)
  })
})

suite('anonymous user adding an email or phone', () => {
  const shared = sharedSmsServer({ env: switchedOn })

  test('becomes permanent by email code, keeps id and data and sets the sent password', async () => {
    const server = await shared()
    const session = await anonymousUser(server.app, { data: { cart: [1, 2] } })
    const email = newAddress()
    const message = await emailAfter(server, email, () =>
      changeUser(server.app, session.access_token, { email, password }),
    )
    assert.equal(server.mail.messages.filter(({ to }) => to === email).length, 1)
    assert.equal((await me(server, session)).is_anonymous, true, 'not before the verification')

    const done = await call(server.app, '/verify', {
      type: 'email_change',
      email,
      token: codeIn(message),
    })
    assert.equal(done.statusCode, 200, done.body)
    await assertPermanent(server, session, { email }, ['email'])
    assert.equal(decodeJwt(done.json().access_token).is_anonymous, false)
    const signedIn = await signIn(server.app, { email })
    assert.equal(signedIn.json().user?.id, session.user.id, signedIn.body)
  })

  test('becomes permanent by email link', async () => {
    const server = await shared()
    const session = await anonymousUser(server.app)
    const email = newAddress()
    const message = await emailAfter(server, email, () =>
      changeUser(server.app, session.access_token, { email }),
    )
    assert.equal((await open(server.app, message)).statusCode, 303)
    await assertPermanent(server, session, { email }, ['email'])
  })

  test('becomes permanent by phone', async () => {
    const server = await shared()
    const session = await anonymousUser(server.app, { data: { cart: [1, 2] } })
    const phone = newNumber()
    const change = { phone, password, data: { name: 'Ann' } }
    const token = await codeAfter(server, phone, () =>
      changeUser(server.app, session.access_token, change),
    )
    assert.equal((await me(server, session)).is_anonymous, true, 'not before the verification')

    const done = await call(server.app, '/verify', { type: 'phone_change', phone, token })
    assert.equal(done.statusCode, 200, done.body)
    await assertPermanent(server, session, { phone }, ['phone'])
    const { user_metadata } = await me(server, session)
    assert.deepEqual([user_metadata.cart, user_metadata.name], [[1, 2], 'Ann'])
    const signedIn = await signIn(server.app, { phone })
    assert.equal(signedIn.json().user?.id, session.user.id, signedIn.body)
  })

  test('becomes permanent by email and phone requested together', async () => {
    const server = await shared()
    const session = await anonymousUser(server.app)
    const [email, phone] = [newAddress(), newNumber()]
    const token = await codeAfter(server, phone, () =>
      changeUser(server.app, session.access_token, { email, phone }),
    )
    const message = await server.mail.waitFor(email)
    const mailed = { type: 'email_change', email, token: codeIn(message) }
    assert.equal((await call(server.app, '/verify', mailed)).statusCode, 200)
    const texted = await call(server.app, '/verify', { type: 'phone_change', phone, token })
    assert.deepEqual(
      statusAndCode(texted),
      [403, 'otp_expired'],
      'a verification invalidates pending codes',
    )
    const again = await codeAfter(server, phone, () =>
      changeUser(server.app, session.access_token, { phone }),
    )
    await call(server.app, '/verify', { type: 'phone_change', phone, token: again })
    await assertPermanent(server, session, { email, phone }, ['email', 'phone'])
  })

  test('becomes permanent immediately when autoconfirm is set', async (t) => {
    const env = {
      ...switchedOn,
      AUTH_MAILER_AUTOCONFIRM: 'true',
      AUTH_SMS_AUTOCONFIRM: 'true',
    }
    const server = await buildWithSms(t, { env })
    for (const change of [{ email: newAddress() }, { phone: newNumber() }]) {
      const session = await anonymousUser(server.app)
      const changed = await changeUser(server.app, session.access_token, { ...change, password })
      assert.equal(changed.statusCode, 200, changed.body)
      await assertPermanent(server, session, change, Object.keys(change))
    }
    const session = await anonymousUser(server.app)
    const both = { email: newAddress(), phone: newNumber() }
    assert.equal((await changeUser(server.app, session.access_token, both)).statusCode, 200)
    await assertPermanent(server, session, both, ['email', 'phone'])
    assert.equal(server.sms.messages.length, 0)
  })

  test('stays anonymous when an admin sets email_confirm without an email', async () => {
    const { app } = await shared()
    const { user } = await anonymousUser(app)
    const record = await adminCall(app, 'PUT', `/admin/users/${user.id}`, { email_confirm: true })
    assert.equal(record.is_anonymous, true)
    const email = { email: newAddress(), email_confirm: true }
    const named = await adminCall(app, 'PUT', `/admin/users/${user.id}`, email)
    assert.equal(named.is_anonymous, false)
  })

  test('stays anonymous when the phone is taken', async () => {
    const server = await shared()
    const { user } = await phoneUser(server)
    const session = await anonymousUser(server.app)
    const change = { phone: user.phone, password }
    const sent = server.sms.messages.length
    assert.equal((await changeUser(server.app, session.access_token, change)).statusCode, 200)
    assert.equal(server.sms.messages.length, sent)
    assert.equal((await me(server, session)).is_anonymous, true)
  })
})

async function me({ app }: PhoneServer, session: Session) {
  const response = await getUser(app, session)
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** Same id and the requested addresses; tokens contain them from the next refresh on. */
async function assertPermanent(
  server: PhoneServer,
  session: Session,
  addresses: object,
  providers: string[],
) {
  const user = await me(server, session)
  assert.equal(user.id, session.user.id)
  assert.equal(user.is_anonymous, false)
  for (const [key, value] of Object.entries(addresses)) assert.equal(user[key], value)
  assert.deepEqual([...user.app_metadata.providers].sort(), providers)
  const refreshed = await refresh(server.app, session.refresh_token)
  assert.equal(refreshed.statusCode, 200, refreshed.body)
  assert.equal(decodeJwt(refreshed.json().access_token).is_anonymous, false)
}
