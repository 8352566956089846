/**
 * Sign-ups for one email with different passwords: the owner’s link activates no other password, and an attacker’s
 * requests do not block the owner.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { emailAfter, open, redirectParams } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import type { ReceivedMail } from '../../support/messages/mail-server.ts'
import { buildWithSms, codeAfter, sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, getUser, statusAndCode, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { anonymousUser, newAddress, newNumber, signIn } from '../../support/users.ts'

const owners = 'the password of the owner'
const attackers = 'the password of the attacker'
const anonymousOn = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

const signUp = (server: Built, email: string, password: string) =>
  emailAfter(server, email, () => call(server.app, '/signup', { email, password }))

const works = async ({ app }: Built, who: object, password: string) =>
  (await signIn(app, { ...who, password })).statusCode === 200

async function confirm({ app }: Built, message: ReceivedMail): Promise<string> {
  const { fragment } = redirectParams(await open(app, message))
  return fragment.access_token ?? assert.fail(JSON.stringify(fragment))
}

suite('sign-ups for one email with different passwords', () => {
  const servers = sharedServers()

  for (const [title, order] of Object.entries({
    'the attacker last': [owners, attackers],
    'the owner last': [attackers, owners],
    'the attacker between': [owners, attackers, owners],
  })) {
    test(`drop all passwords at the confirmation, ${title}`, async () => {
      const server = await servers()
      const email = newAddress()
      let message: ReceivedMail | undefined
      for (const password of order) message = await signUp(server, email, password)
      const token = await confirm(server, message ?? assert.fail())
      for (const password of [owners, attackers]) {
        assert.equal(await works(server, { email }, password), false, password)
      }
      const chosen = 'the password that the owner sets now'
      assert.equal((await changeUser(server.app, token, { password: chosen })).statusCode, 200)
      assert.equal(await works(server, { email }, chosen), true)
    })
  }

  test('keep a password that both sign-ups contained', async () => {
    const server = await servers()
    const email = newAddress()
    await signUp(server, email, owners)
    await confirm(server, await signUp(server, email, owners))
    assert.equal(await works(server, { email }, owners), true)
  })

  test('drop the password of a sign-up after a link request', async () => {
    const server = await servers()
    const email = newAddress()
    await emailAfter(server, email, () => call(server.app, '/otp', { email }))
    await confirm(server, await signUp(server, email, attackers))
    assert.equal(await works(server, { email }, attackers), false)
  })

  test('drop all passwords for a code', async () => {
    const server = await servers()
    const email = newAddress()
    await signUp(server, email, owners)
    const token = codeIn(await signUp(server, email, attackers))
    assert.equal((await verify(server.app, { type: 'signup', email, token })).statusCode, 200)
    assert.equal(await works(server, { email }, attackers), false)
  })

  test('keep a password set by an admin', async () => {
    const server = await servers()
    const email = newAddress()
    await signUp(server, email, attackers)
    const body = { type: 'signup', email, password: owners }
    const made = await adminCall<{ email_otp: string }>(
      server.app,
      'POST',
      '/admin/generate_link',
      body,
    )
    await verify(server.app, { type: 'signup', email, token: made.email_otp })
    assert.equal(await works(server, { email }, owners), true)
    assert.equal(await works(server, { email }, attackers), false)
  })

  test('drop all passwords when unconfirmed users can sign in', async () => {
    const server = await servers({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
    const email = newAddress()
    await signUp(server, email, owners)
    await confirm(server, await signUp(server, email, attackers))
    assert.equal(await works(server, { email }, attackers), false)
  })

  test('drop all passwords when the second sign-up was throttled', async () => {
    const server = await servers({ AUTH_SMTP_MAX_FREQUENCY: '900' })
    const email = newAddress()
    const message = await signUp(server, email, attackers)
    const rejected = await call(server.app, '/signup', { email, password: owners })
    assert.deepEqual(statusAndCode(rejected), [429, 'over_email_send_rate_limit'])
    await confirm(server, message)
    assert.equal(await works(server, { email }, attackers), false)
  })

  test('drop all passwords for a phone', async (t) => {
    const server = await buildWithSms(t)
    const phone = newNumber()
    const send = (password: string) =>
      codeAfter(server, phone, () => call(server.app, '/signup', { phone, password }))
    await send(owners)
    const token = await send(attackers)
    assert.equal((await verify(server.app, { type: 'sms', phone, token })).statusCode, 200)
    for (const password of [owners, attackers]) {
      assert.equal(await works(server, { phone }, password), false, password)
    }
  })
})

suite('anonymous user requesting an email with a password', () => {
  const shared = sharedSmsServer({ env: anonymousOn })

  test('keeps password and session when no other user requested the email', async () => {
    const server = await shared()
    const email = newAddress()
    const guest = await anonymousUser(server.app)
    const message = await upgrade(server, guest, { email, password: owners })
    await confirm(server, message)
    assert.equal(await works(server, { email }, owners), true)
    assert.equal((await getUser(server.app, guest)).statusCode, 200)
  })

  test('loses password and session when another user requested the email', async () => {
    const server = await shared()
    const email = newAddress()
    const [attacker, owner] = [await anonymousUser(server.app), await anonymousUser(server.app)]
    const message = await upgrade(server, attacker, { email, password: attackers })
    await upgrade(server, owner, { email, password: owners })
    await confirm(server, message)
    assert.equal(await works(server, { email }, attackers), false)
    assert.equal((await getUser(server.app, attacker)).statusCode, 403)
  })

  test('loses password and session when another user requested the phone', async () => {
    const server = await shared()
    const phone = newNumber()
    const [attacker, owner] = [await anonymousUser(server.app), await anonymousUser(server.app)]
    const send = (who: Session, password: string) =>
      codeAfter(server, phone, () => changeUser(server.app, who.access_token, { phone, password }))
    const token = await send(attacker, attackers)
    await send(owner, owners)
    const verified = await verify(server.app, { type: 'phone_change', phone, token })
    if (verified.statusCode !== 200) return
    assert.equal(await works(server, { phone }, attackers), false)
    assert.equal((await getUser(server.app, attacker)).statusCode, 403)
  })
})

const upgrade = (server: Built, who: Session, body: { email: string; password: string }) =>
  emailAfter(server, body.email, () => changeUser(server.app, who.access_token, body))

suite('send interval per client', () => {
  const env = { AUTH_RATE_LIMIT_HEADER: 'X-Real-IP', AUTH_SMTP_MAX_FREQUENCY: '900' }
  const requests: [string, object][] = [
    ['/signup', { password: owners }],
    ['/recover', {}],
    ['/otp', {}],
    ['/magiclink', {}],
    ['/resend', { type: 'signup' }],
  ]
  const servers = sharedServers()

  for (const [path, body] of requests) {
    test(`${path}: does not delay other clients`, async () => {
      const { app } = await servers(env)
      const email = newAddress()
      const send = async (address: string) => {
        const options = { headers: { 'x-real-ip': address } }
        return (await call(app, path, { email, ...body }, options)).statusCode
      }
      assert.deepEqual([await send('203.0.113.7'), await send('203.0.113.7')], [200, 429])
      assert.equal(await send('203.0.113.8'), 200)
    })
  }

  test('SMS: does not delay other clients', async (t) => {
    const limits = { AUTH_RATE_LIMIT_HEADER: 'X-Real-IP', AUTH_SMS_MAX_FREQUENCY: '900' }
    const { app } = await buildWithSms(t, { env: limits })
    const phone = newNumber()
    const send = async (address: string) => {
      const options = { headers: { 'x-real-ip': address } }
      return (await call(app, '/signup', { phone, password: owners }, options)).statusCode
    }
    assert.deepEqual([await send('203.0.113.7'), await send('203.0.113.7')], [200, 429])
    assert.equal(await send('203.0.113.8'), 200)
  })
})
