/** Phones and anonymous users, by the published client SDK over HTTP and an SMS message provider. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { AuthApiError, AuthClient } from '@supabase/auth-js'

import { codeIn } from '../support/messages/mail-links.ts'
import {
  buildWithSms,
  type PhoneServer,
  sharedSmsServer,
} from '../support/messages/phone-journeys.ts'
import { listeningPort } from '../support/processes/listening.ts'
import { waitTimeoutMs } from '../support/processes/until.ts'
import { newAddress, newNumber } from '../support/users.ts'

const anonymous = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
const password = 'correct horse battery'

suite('phones by SDK', () => {
  const shared = sharedSmsServer({ env: anonymous })

  test('signUp, verifyOtp, signInWithPassword, updateUser', async () => {
    const { client, sms } = await connect(shared)
    const sent = sms.messages.length
    const [phone, another] = [newNumber(), newNumber()]
    const signedUp = await client.signUp({ phone, password, options: { data: { name: 'Ann' } } })
    assert.equal(signedUp.error, null)
    assert.equal(signedUp.data.session, null)
    assert.equal(signedUp.data.user?.identities?.length, 1)
    const resent = await client.resend({ type: 'sms', phone })
    assert.equal(resent.error, null)
    assert.ok(resent.data.messageId)

    const token = await sms.code(phone, sent + 1)
    const confirmed = await retried(() => client.verifyOtp({ phone, token, type: 'sms' }))
    assert.equal(confirmed.error, null)
    assert.equal(confirmed.data.user?.phone, phone)
    assert.equal((await client.signInWithPassword({ phone, password })).error, null)

    const since = sms.messages.length
    const requested = await client.updateUser({ phone: another })
    assert.equal(requested.data.user?.new_phone, another)
    const code = await sms.code(another, since)
    const type = 'phone_change'
    const changed = await client.verifyOtp({ phone: another, token: code, type })
    assert.equal(changed.error, null)
    assert.equal(changed.data.user?.id, signedUp.data.user?.id)
    assert.equal((await client.getUser()).data.user?.phone, another)
    const old = await client.signInWithPassword({ phone, password })
    assert.equal(old.error?.code, 'invalid_credentials')
  })

  test('signInWithOtp', async () => {
    const { client, sms } = await connect(shared)
    const sent = sms.messages.length
    const phone = newNumber()
    const unknown = await client.signInWithOtp({ phone, options: { shouldCreateUser: false } })
    assert.equal(unknown.error, null)
    assert.equal(sms.messages.length, sent)
    for (const channel of ['sms', 'whatsapp'] as const) {
      const since = sms.messages.length
      const requested = await client.signInWithOtp({ phone, options: { channel, data: { a: 1 } } })
      assert.equal(requested.error, null)
      const token = await sms.code(phone, since)
      const wrong = await client.verifyOtp({ phone, token: `${token}0`, type: 'sms' })
      assert.ok(wrong.error instanceof AuthApiError)
      assert.equal(wrong.error.code, 'otp_expired')
      const signedIn = await client.verifyOtp({ phone, token, type: 'sms' })
      assert.equal(signedIn.error, null)
      assert.equal(signedIn.data.user?.user_metadata.a, 1)
    }
  })

  test('password change with a nonce by SMS', async (t) => {
    const env = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true' }
    const { client, sms, app } = await connect(() => buildWithSms(t, { env }))
    const phone = newNumber()
    await client.signInWithOtp({ phone })
    await client.verifyOtp({ phone, token: await sms.code(phone), type: 'sms' })
    await app.pool.query(`update auth.sessions set created_at = now() - interval '25 hours'`)
    const needed = await client.updateUser({ password })
    assert.equal(needed.error?.code, 'reauthentication_needed')
    const since = sms.messages.length
    assert.equal((await client.reauthenticate()).error, null)
    const changed = await client.updateUser({ password, nonce: await sms.code(phone, since) })
    assert.equal(changed.error, null)
  })
})

suite('anonymous user by SDK', () => {
  const shared = sharedSmsServer({ env: anonymous })

  test('becomes permanent by phone', async () => {
    const { client, sms } = await connect(shared)
    const before = await client.signInAnonymously({ options: { data: { cart: 3 } } })
    assert.equal(before.error, null)
    assert.equal(before.data.user?.is_anonymous, true)
    const phone = newNumber()
    assert.equal((await client.updateUser({ phone, password })).error, null)
    const token = await sms.code(phone)
    const after = await client.verifyOtp({ phone, token, type: 'phone_change' })
    assert.equal(after.error, null)
    assertSame(before.data.user, after.data.user)
    const claims = await client.getClaims()
    assert.equal(claims.data?.claims.is_anonymous, false)
    assert.equal((await client.signInWithPassword({ phone, password })).error, null)
  })

  test('becomes permanent by email', async () => {
    const { client, mail } = await connect(shared)
    const before = await client.signInAnonymously({ options: { data: { cart: 3 } } })
    const email = newAddress()
    const requested = await client.updateUser({ email, password })
    assert.equal(requested.data.user?.new_email, email)
    const token = codeIn(await mail.waitFor(email))
    const after = await client.verifyOtp({ email, token, type: 'email_change' })
    assert.equal(after.error, null)
    assertSame(before.data.user, after.data.user)
    const refreshed = await client.refreshSession()
    assert.equal(refreshed.data.user?.is_anonymous, false)
    assert.equal((await client.signInWithPassword({ email, password })).error, null)
  })
})

type User = { id: string; is_anonymous?: boolean; user_metadata: Record<string, unknown> } | null

function assertSame(before: User, after: User): void {
  assert.equal(after?.id, before?.id)
  assert.equal(after?.is_anonymous, false)
  assert.equal(after?.user_metadata.cart, 3)
}

/** A repeated code is accepted shortly after the provider has. */
async function retried<T extends { error: unknown }>(act: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + waitTimeoutMs; performance.now() < end; await pause(25)) {
    const result = await act()
    if (!result.error) return result
  }
  return act()
}

/** A client of the server, which listens from the first time on. */
async function connect(open: () => Promise<PhoneServer>) {
  const server = await open()
  const { app } = server
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${listeningPort(app.server)}`
  const client = new AuthClient({ url, autoRefreshToken: false, persistSession: false })
  return { ...server, client }
}
