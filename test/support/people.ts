/** Everybody a test needs. They get in over HTTP, as people do; whoever makes somebody gets their session. */
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { mailAfter, nextMail } from './mail-journeys.ts'
import { codeIn } from './mail-links.ts'
import type { ReceivedMail } from './mail-server.ts'
import { codeAfter, type PhoneServer } from './phone-journeys.ts'
import { call, changeUser, verify } from './requests.ts'
import type { App, Built } from './server.ts'

export const password = 'correct horse battery'

/** A server on which a sign-up by email is confirmed at once. */
export const autoconfirm = { AUTH_MAILER_AUTOCONFIRM: 'true' }

/** The letter before the number keeps it from being taken for a code. */
export const newAddress = (name = 'person') => `${name}-x${randomUUID().slice(0, 8)}@example.com`

/** A number that nobody has, as stored. */
export const newNumber = () => `1555${String(randomInt(10 ** 7)).padStart(7, '0')}`

interface Credentials {
  email?: string
  phone?: string
  /** The one of everybody here, unless another is named. */
  password?: string
}

type MailServed = Pick<Built, 'app' | 'mail'>

/** With more fields of the request, where a test wants them. */
export const signUp = (app: App, who: Credentials, more: object = {}) =>
  call(app, '/signup', { password, ...who, ...more })

export const signIn = (app: App, who: Credentials, headers: Record<string, string> = {}) =>
  call(app, '/token?grant_type=password', { password, ...who }, { headers })

/** A further session of somebody who has the password of everybody here. */
export async function signedIn(
  app: App,
  email: string,
  headers: Record<string, string> = {},
): Promise<Session> {
  return answerOf(await signIn(app, { email }, headers))
}

/** Somebody who signed up, on a server with `autoconfirm`. */
export async function newPerson(app: App): Promise<Session & { email: string }> {
  const email = newAddress()
  const session: Session = answerOf(await signUp(app, { email }))
  return { ...session, email }
}

/** Somebody who signed up and has not opened the mail. */
export async function unconfirmedPerson(
  server: MailServed,
  email = newAddress(),
  more: object = {},
): Promise<{ user: User; message: ReceivedMail }> {
  const since = server.mail.messages.length
  const user: User = answerOf(await signUp(server.app, { email }, more))
  return { user, message: await nextMail(server, email, since) }
}

/** Somebody who signed up and confirmed by mail, signed in with their password. */
export async function confirmedPerson(
  server: MailServed,
  email = newAddress(),
  more: object = {},
): Promise<Session> {
  const { message } = await unconfirmedPerson(server, email, more)
  answerOf(await verify(server.app, { type: 'signup', email, token: codeIn(message) }))
  return signedIn(server.app, email)
}

/** Somebody who signed up with phone and password and typed the code. */
export async function phonePerson(server: PhoneServer, phone = newNumber()): Promise<Session> {
  const token = await codeAfter(server, phone, () => signUp(server.app, { phone }))
  return answerOf(await verify(server.app, { type: 'sms', phone, token }))
}

/** Where anonymous sign-ins are switched on. */
export async function anonymousPerson(app: App, fields: object = {}): Promise<Session> {
  return answerOf(await call(app, '/signup', fields))
}

/** Somebody whom an admin invites: the mail that asks them in. */
export async function invite(server: MailServed, email: string, more: object = {}) {
  const token = await adminToken(server.app)
  return mailAfter(server, email, () => call(server.app, '/invite', { email, ...more }, { token }))
}

/** Somebody whom an admin makes: no mail is sent, and nobody is signed in. */
export async function createdPerson(app: App, record: object): Promise<User> {
  return answerOf(await call(app, '/admin/users', record, { token: await adminToken(app) }))
}

/** Somebody whom an admin makes, with a proven address and the password of everybody here, and who signs in. */
export async function enteredPerson(app: App, email: string, more: object = {}) {
  const { id } = await createdPerson(app, { email, password, email_confirm: true, ...more })
  return { id, session: await signedIn(app, email) }
}

export async function adminToken(app: App, role = 'service_role'): Promise<string> {
  return app.jwt.signApiToken({ role, seconds: 3600 }, new Date())
}

/** An address of every kind that a stranger might ask about. */
export const addresses: Record<string, (server: MailServed) => Promise<string>> = {
  unknown: async () => newAddress(),
  confirmed: async (server) => (await confirmedPerson(server)).user.email,
  unconfirmed: async (server) => (await unconfirmedPerson(server)).user.email,
  banned: async ({ app, mail }) => {
    const { user } = await confirmedPerson({ app, mail })
    const banned_until = new Date(Date.now() + 3_600_000)
    await app.db.updateTable('users').set({ banned_until }).where('id', '=', user.id).execute()
    return user.email
  },
  'with a change of address pending': async (server) => {
    const { user, access_token } = await confirmedPerson(server)
    await changeUser(server.app, access_token, { email: newAddress() })
    return user.email
  },
}

/** What a request that succeeded is answered with. */
export function answerOf<Answer>(response: Awaited<ReturnType<typeof call>>): Answer {
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}
