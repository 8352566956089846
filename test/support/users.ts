/** Test users. They are created over HTTP; each function returns the session. */
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { emailAfter, nextEmail } from './messages/mail-journeys.ts'
import { codeIn } from './messages/mail-links.ts'
import type { ReceivedMail } from './messages/mail-server.ts'
import { codeAfter, type PhoneServer } from './messages/phone-journeys.ts'
import { call, changeUser, verify } from './requests.ts'
import type { App, Built } from './server.ts'

export const password = 'correct horse battery'

/** A server that autoconfirms emails. */
export const autoconfirm = { AUTH_MAILER_AUTOCONFIRM: 'true' }

/** The letter before the number keeps it from looking like a code. */
export const newAddress = (name = 'user') => `${name}-x${randomUUID().slice(0, 8)}@example.com`

let lastNumber = randomInt(10 ** 7)

/** An unused number in stored form. Counted from a random one, so that no number of a process occurs twice. */
export function newNumber(): string {
  lastNumber = (lastNumber + 1) % 10 ** 7
  return `1555${String(lastNumber).padStart(7, '0')}`
}

interface Credentials {
  email?: string
  phone?: string
  /** The password of each test user unless another is given. */
  password?: string
}

type MailServed = Pick<Built, 'app' | 'mail'>

/** With additional request fields for a test. */
export const signUp = (app: App, who: Credentials, more: object = {}) =>
  call(app, '/signup', { password, ...who, ...more })

export const signIn = (app: App, who: Credentials, headers: Record<string, string> = {}) =>
  call(app, '/token?grant_type=password', { password, ...who }, { headers })

/** A further session of a user with the default password. */
export async function signedIn(
  app: App,
  email: string,
  headers: Record<string, string> = {},
): Promise<Session> {
  return bodyOf200(await signIn(app, { email }, headers))
}

/** A user who signed up on a server with `autoconfirm`. */
export async function signUpUser(app: App): Promise<Session & { email: string }> {
  const email = newAddress()
  const session: Session = bodyOf200(await signUp(app, { email }))
  return { ...session, email }
}

/** As after a confirmation by email, which autoconfirm skips. */
export async function confirmAddress(app: App, userId: string): Promise<void> {
  await app.db.deleteFrom('postern_autoconfirmed_addresses').where('user_id', '=', userId).execute()
}

/** A user who signed up and has not confirmed. */
export async function unconfirmedUser(
  server: MailServed,
  email = newAddress(),
  more: object = {},
): Promise<{ user: User; message: ReceivedMail }> {
  const since = server.mail.messages.length
  const user: User = bodyOf200(await signUp(server.app, { email }, more))
  return { user, message: await nextEmail(server, email, since) }
}

/** A user who signed up, confirmed by email and signed in by password. */
export async function confirmedUser(
  server: MailServed,
  email = newAddress(),
  more: object = {},
): Promise<Session> {
  const { message } = await unconfirmedUser(server, email, more)
  bodyOf200(await verify(server.app, { type: 'signup', email, token: codeIn(message) }))
  return signedIn(server.app, email)
}

/** A user who signed up with phone and password and verified the code. */
export async function phoneUser(server: PhoneServer, phone = newNumber()): Promise<Session> {
  const token = await codeAfter(server, phone, () => signUp(server.app, { phone }))
  return bodyOf200(await verify(server.app, { type: 'sms', phone, token }))
}

/** Where anonymous sign-ins are switched on. */
export async function anonymousUser(app: App, fields: object = {}): Promise<Session> {
  return bodyOf200(await call(app, '/signup', fields))
}

/** A user invited by an admin: the invitation email. */
export async function invite(server: MailServed, email: string, more: object = {}) {
  const token = await adminToken(server.app)
  return emailAfter(server, email, () => call(server.app, '/invite', { email, ...more }, { token }))
}

/** A user created by an admin: without email and session. */
export async function adminCreatedUser(app: App, record: object): Promise<User> {
  return bodyOf200(await call(app, '/admin/users', record, { token: await adminToken(app) }))
}

/** A user created by an admin with a verified email and the default password, signed in. */
export async function signedInAdminCreatedUser(app: App, email: string, more: object = {}) {
  const { id } = await adminCreatedUser(app, { email, password, email_confirm: true, ...more })
  return { id, session: await signedIn(app, email) }
}

export async function adminToken(app: App, role = 'service_role'): Promise<string> {
  return app.jwt.signApiToken({ role, seconds: 3600 }, new Date())
}

/** An email of each account state that an unauthenticated client might query. */
export const addresses: Record<string, (server: MailServed) => Promise<string>> = {
  unknown: async () => newAddress(),
  confirmed: async (server) => (await confirmedUser(server)).user.email,
  unconfirmed: async (server) => (await unconfirmedUser(server)).user.email,
  banned: async ({ app, mail }) => {
    const { user } = await confirmedUser({ app, mail })
    const banned_until = new Date(Date.now() + 3_600_000)
    await app.db.updateTable('users').set({ banned_until }).where('id', '=', user.id).execute()
    return user.email
  },
  'with a pending email change': async (server) => {
    const { user, access_token } = await confirmedUser(server)
    await changeUser(server.app, access_token, { email: newAddress() })
    return user.email
  },
}

/** The body of a request that succeeded. */
export function bodyOf200<Answer>(response: Awaited<ReturnType<typeof call>>): Answer {
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}
