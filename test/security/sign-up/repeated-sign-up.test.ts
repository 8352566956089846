/**
 * Sign-ups for an email whose account is in use. Where unconfirmed users can sign in, each account is: the second
 * sign-up takes effect only with the email sent for it.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { adminCall } from '../../support/admin.ts'
import { emailAfter, open, redirectParams } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import type { ReceivedMail } from '../../support/messages/mail-server.ts'
import { sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, verify } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { adminToken, newAddress, newNumber, signIn } from '../../support/users.ts'

const first = 'the password of the first one'
const second = 'the password of the second one'
const unverified = { AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' }

const signUp = (server: Built, email: string, password: string, name: string) =>
  emailAfter(server, email, () => call(server.app, '/signup', { email, password, data: { name } }))

const works = async ({ app }: Built, email: string, password: string) =>
  (await signIn(app, { email, password })).statusCode === 200

async function fetchUser({ app }: Built, token: string): Promise<User> {
  const response = await call(app, '/user', undefined, { token })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** A user who signed up and signed in without confirming. */
async function inUse(server: Built) {
  const email = newAddress()
  const mail = await signUp(server, email, first, 'Ann')
  const { access_token: token, user } = (
    await signIn(server.app, { email, password: first })
  ).json<Session>()
  return { email, mail, token, id: user.id }
}

type Send = (server: Built, email: string) => PromiseLike<{ statusCode: number; body: string }>

const requests: Record<string, Send> = {
  'a second sign-up': ({ app }, email) =>
    call(app, '/signup', { email, password: second, data: { name: 'Bob' } }),
  'a magic link': ({ app }, email) => call(app, '/magiclink', { email, data: { name: 'Bob' } }),
  'a one-time code': ({ app }, email) => call(app, '/otp', { email, data: { name: 'Bob' } }),
  'a recovery': ({ app }, email) => call(app, '/recover', { email }),
  'an invitation': async ({ app }, email) =>
    call(app, '/invite', { email, data: { name: 'Bob' } }, { token: await adminToken(app) }),
}

suite('unconfirmed account in use', () => {
  const servers = sharedServers()

  for (const [name, send] of Object.entries(requests)) {
    test(`${name}: changes nothing before its email is opened`, async () => {
      const server = await servers(unverified)
      const { email, token, id } = await inUse(server)
      const before = await fetchUser(server, token)
      await emailAfter(server, email, () => send(server, email))
      const after = await fetchUser(server, token)
      assert.equal(after.id, id)
      assert.deepEqual(after.user_metadata, before.user_metadata)
      assert.deepEqual(after.identities, before.identities)
      assert.equal(await works(server, email, first), true)
      assert.equal(await works(server, email, second), false)
    })

    test(`${name}: confirms the email and drops earlier credentials`, async () => {
      const server = await servers(unverified)
      const { email, mail, token } = await inUse(server)
      const message = await emailAfter(server, email, () => send(server, email))
      const session = await signInByEmail(server, email, message)
      assert.equal(session.user.email_confirmed_at !== undefined, true)
      assert.equal(await works(server, email, first), false)
      assert.equal(await works(server, email, second), false)
      if (name !== 'a recovery') assert.equal(session.user.user_metadata.name, 'Bob')
      const gone = await call(server.app, '/user', undefined, { token })
      assert.equal(gone.json().error_code, 'session_not_found')
      assert.equal(redirectParams(await open(server.app, mail)).fragment.error_code, 'otp_expired')
    })
  }

  test('returns the same response to the second sign-up as to the first', async () => {
    const server = await servers(unverified)
    const { email, id } = await inUse(server)
    const body = { email, password: second, data: { name: 'Bob', color: 'red' } }
    const again = (await call(server.app, '/signup', body)).json<User>()
    const fresh = (await call(server.app, '/signup', { ...body, email: newAddress() })).json<User>()
    assert.equal(again.id, id)
    assert.equal(again.user_metadata.name, 'Bob')
    assert.equal(again.user_metadata.color, 'red')
    assert.equal(again.identities?.[0]?.identity_data?.name, 'Bob')
    assert.deepEqual(toShape(again), toShape(fresh))
  })

  test('applies the sign-up whose email is opened, without its password', async () => {
    const server = await servers(unverified)
    const { email } = await inUse(server)
    const third = 'the password of a third one'
    const older = await signUp(server, email, second, 'Bob')
    const newer = await signUp(server, email, third, 'Cid')
    assert.equal(redirectParams(await open(server.app, older)).fragment.error_code, 'otp_expired')
    const { user } = await signInByEmail(server, email, newer)
    assert.equal(user.user_metadata.name, 'Cid')
    const opened = await Promise.all([first, second, third].map((it) => works(server, email, it)))
    assert.deepEqual(opened, [false, false, false])
  })

  test('drops all passwords by a resent confirmation', async () => {
    const server = await servers(unverified)
    const { email } = await inUse(server)
    await signUp(server, email, second, 'Bob')
    const again = await emailAfter(server, email, () =>
      call(server.app, '/resend', { type: 'signup', email }),
    )
    await signInByEmail(server, email, again)
    assert.equal(await works(server, email, first), false)
    assert.equal(await works(server, email, second), false)
  })

  test('a new password voids the pending sign-up and is dropped by the confirmation', async () => {
    const server = await servers(unverified)
    const { email, token } = await inUse(server)
    const waiting = await signUp(server, email, second, 'Bob')
    const password = 'one more password of the first one'
    const changed = await changeUser(server.app, token, { password })
    assert.equal(changed.statusCode, 200, changed.body)
    assert.equal(redirectParams(await open(server.app, waiting)).fragment.error_code, 'otp_expired')
    await signInByEmail(
      server,
      email,
      await emailAfter(server, email, () => call(server.app, '/resend', { type: 'signup', email })),
    )
    assert.equal(await works(server, email, password), false)
    const gone = await call(server.app, '/user', undefined, { token })
    assert.equal(gone.json().error_code, 'session_not_found')
  })

  test('a link created by an admin drops all passwords', async () => {
    const server = await servers(unverified)
    const { email } = await inUse(server)
    const body = { type: 'signup', email, password: second, data: { name: 'Bob' } }
    const made = await adminCall<{ email_otp: string }>(
      server.app,
      'POST',
      '/admin/generate_link',
      body,
    )
    assert.equal(await works(server, email, first), true)
    const verified = await verify(server.app, { type: 'signup', email, token: made.email_otp })
    assert.equal(verified.statusCode, 200, verified.body)
    assert.equal(await works(server, email, first), false)
    assert.equal(await works(server, email, second), true)
  })
})

/** Data that an account keeps despite an attacker’s sign-up, also where unconfirmed users cannot sign in. */
const locks: Record<string, (server: Built, id: string) => Promise<unknown>> = {
  'a session': ({ app }, user_id) =>
    app.db
      .insertInto('sessions')
      .values({ id: crypto.randomUUID(), user_id, aal: 'aal1', created_at: new Date() })
      .execute(),
  'a second factor': ({ app }, user_id) =>
    app.db
      .insertInto('mfa_factors')
      .values({
        id: crypto.randomUUID(),
        user_id,
        factor_type: 'totp',
        status: 'verified',
        created_at: new Date(),
        updated_at: new Date(),
      })
      .execute(),
  'a passkey': ({ app }, user_id) =>
    app.pool.query(
      `insert into auth.webauthn_credentials (user_id, credential_id, public_key)
       values ($1::uuid, convert_to(gen_random_uuid()::text, 'UTF8'), '')`,
      [user_id],
    ),
  'an identity at a provider': ({ app }, user_id) =>
    app.db
      .insertInto('identities')
      .values({
        user_id,
        provider: 'github',
        provider_id: user_id,
        identity_data: JSON.stringify({ sub: user_id, email_verified: false }),
        last_sign_in_at: null,
        created_at: new Date(),
        updated_at: new Date(),
      })
      .execute(),
}

suite('unconfirmed account with credentials', () => {
  const servers = sharedServers()

  for (const [what, give] of Object.entries(locks)) {
    test(`with ${what}: a second sign-up changes nothing before its email is opened`, async () => {
      const server = await servers()
      const email = newAddress()
      await signUp(server, email, first, 'Ann')
      const { id } = await server.app.db
        .selectFrom('users')
        .select('id')
        .where('email', '=', email)
        .executeTakeFirstOrThrow()
      await give(server, id)
      const before = await stored(server, id)
      const message = await signUp(server, email, second, 'Bob')
      assert.deepEqual(await stored(server, id), before)
      await signInByEmail(server, email, message)
      const after = await stored(server, id)
      assert.deepEqual(after.providers, ['email'])
      assert.notEqual(after.encrypted_password, before.encrypted_password)
      assert.equal(await works(server, email, second), false)
    })
  }

  test('without credentials: a second sign-up replaces the first', async () => {
    const server = await servers()
    const email = newAddress()
    const { id } = (await call(server.app, '/signup', { email, password: first })).json<User>()
    const before = await stored(server, id)
    await signUp(server, email, second, 'Bob')
    assert.notEqual((await stored(server, id)).encrypted_password, before.encrypted_password)
  })
})

suite('unverified phone of an account with credentials', () => {
  const shared = sharedSmsServer()

  for (const path of ['signup', 'otp'] as const) {
    test(`${path}: changes nothing before the code is verified`, async () => {
      const server = await shared()
      const [email, phone] = [newAddress(), newNumber()]
      const record = { email, phone, password: first }
      const { id } = await adminCall(server.app, 'POST', '/admin/users', record)
      const before = await stored(server, id)
      const since = server.sms.messages.length
      const body = { phone, data: { name: 'Bob' }, ...(path === 'signup' && { password: second }) }
      const pending = await call(server.app, `/${path}`, body)
      assert.equal(pending.statusCode, 200, pending.body)
      assert.deepEqual(await stored(server, id), before)
      const token = await server.sms.code(phone, since)
      const verified = await verify(server.app, { type: 'sms', phone, token })
      assert.equal(verified.statusCode, 200, verified.body)
      const after = await stored(server, id)
      assert.deepEqual(after.providers, ['phone'])
      assert.equal(after.name, 'Bob')
      const opened = await call(server.app, '/token?grant_type=password', {
        phone,
        password: second,
      })
      assert.equal(opened.statusCode, 400)
      assert.notEqual(after.encrypted_password, before.encrypted_password)
    })
  }
})

async function stored({ app }: Built, id: string) {
  const { encrypted_password, raw_user_meta_data: metadata } = await app.db
    .selectFrom('users')
    .select(['encrypted_password', 'raw_user_meta_data'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const identities = await app.db
    .selectFrom('identities')
    .select('provider')
    .where('user_id', '=', id)
    .orderBy('provider')
    .execute()
  const providers = identities.map(({ provider }) => provider)
  return { encrypted_password, name: metadata?.name, providers }
}

async function signInByEmail(
  { app }: Built,
  email: string,
  message: ReceivedMail,
): Promise<Session> {
  const link = /https?:\S+verify\?\S+/.exec(message.mail.text ?? '')?.[0] ?? ''
  const type = new URL(link).searchParams.get('type')
  const response = await verify(app, { type, email, token: codeIn(message) })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** Which fields there are, at every level; values apart. */
function toShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toShape)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, toShape(inner)] as const)
      .sort(([a], [b]) => a.localeCompare(b)),
  )
}
