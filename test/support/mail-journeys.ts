/** What people and their apps do with mail: ask, read, type the code, open the link. */
import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'

import type { Session } from '../../schemas/session.ts'
import { codeIn, linkIn } from './mail-links.ts'
import type { ReceivedMail } from './mail-server.ts'
import type { App, build } from './server.ts'

export type Built = Awaited<ReturnType<typeof build>>

export const password = 'correct horse battery'

/** The letter before the number keeps it from being taken for a code. */
export const newAddress = (name = 'person') => `${name}-x${randomUUID().slice(0, 8)}@example.com`

interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'HEAD'
  token?: string
  headers?: Record<string, string>
}

/** Sends a JSON body, or none for GET. */
export function call(app: App, url: string, payload?: object, options: Call = {}) {
  const { method = payload ? 'POST' : 'GET', token, headers } = options
  return app.inject({
    method,
    url,
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
    ...(payload && { payload }),
  })
}

/** A proof key of RFC 7636 as the SDK makes it. */
export function pkcePair() {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { verifier, fields: { code_challenge: challenge, code_challenge_method: 's256' } }
}

/** The next mail to this address that was not there when `since` mails had come. */
export function nextMail({ mail }: Pick<Built, 'mail'>, to: string, since = 0) {
  return mail.waitFor((message) => message.to === to && mail.messages.indexOf(message) >= since)
}

/** Does something and waits for the mail it causes. */
export async function mailAfter(
  server: Pick<Built, 'mail'>,
  to: string,
  act: () => PromiseLike<{ statusCode: number; body: string }>,
): Promise<ReceivedMail> {
  const since = server.mail.messages.length
  const response = await act()
  assert.equal(response.statusCode, 200, response.body)
  return nextMail(server, to, since)
}

/** Path and query of the link, as it reaches this server. */
export function pathOf(link: string): string {
  const { pathname, search } = new URL(link)
  return pathname + search
}

export const open = (app: App, message: ReceivedMail) => app.inject(pathOf(linkIn(message)))

export function tokenOf(message: ReceivedMail): string {
  return new URL(linkIn(message)).searchParams.get('token') ?? ''
}

/** Where an opened link sends the browser, taken apart. */
export function landing(response: {
  statusCode: number
  headers: Record<string, unknown>
  body: string
}) {
  assert.equal(response.statusCode, 303, response.body)
  const url = new URL(String(response.headers.location))
  const fragment = Object.fromEntries(new URLSearchParams(url.hash.slice(1)))
  const query = Object.fromEntries(url.searchParams)
  return { site: url.origin + url.pathname, fragment, query }
}

export const verify = (app: App, payload: object) => call(app, '/verify', payload)

/** Somebody who signed up and confirmed by mail, signed in with their password. */
export async function confirmedPerson(server: Built, email = newAddress()): Promise<Session> {
  const { app } = server
  const message = await mailAfter(server, email, () => call(app, '/signup', { email, password }))
  const body = { type: 'signup', email, token: codeIn(message) }
  assert.equal((await verify(app, body)).statusCode, 200)
  const response = await signIn(app, email)
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** An address of every kind that a stranger might ask about. */
export const addresses: Record<string, (server: Built) => Promise<string>> = {
  unknown: async () => newAddress(),
  confirmed: async (server) => (await confirmedPerson(server)).user.email,
  unconfirmed: async (server) => {
    const email = newAddress()
    await mailAfter(server, email, () => call(server.app, '/signup', { email, password }))
    return email
  },
  banned: async (server) => {
    const { user } = await confirmedPerson(server)
    const banned_until = new Date(Date.now() + 3_600_000)
    await server.app.db
      .updateTable('users')
      .set({ banned_until })
      .where('id', '=', user.id)
      .execute()
    return user.email
  },
  'with a change of address pending': async (server) => {
    const { user, access_token: token } = await confirmedPerson(server)
    const body = { email: newAddress() }
    await call(server.app, '/user', body, { method: 'PUT', token })
    return user.email
  },
}

export const signIn = (app: App, email: string, secret = password) =>
  call(app, '/token?grant_type=password', { email, password: secret })

/** Waits until the queue has nothing left to do: for showing that something was not sent. */
export async function idle({ app, config }: Built): Promise<void> {
  const jobs = `select count(*)::int as left from ${config.AUTH_DB_NAMESPACE}_jobs._private_jobs
    join ${config.AUTH_DB_NAMESPACE}_jobs._private_tasks t on t.id = task_id
    where t.identifier in ('answer_mail_request', 'send_mail')`
  for (;;) {
    const { rows } = await app.pool.query<{ left: number }>(jobs)
    if (rows[0]?.left === 0) return
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}
