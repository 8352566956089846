/** A person who signed up, confirmed by mail and signed in with a password, in as few words as a test wants. */
import assert from 'node:assert/strict'

import type { Session } from '../../schemas/session.ts'
import { codeIn } from './mail-links.ts'
import type { MailServer } from './mail-server.ts'
import type { App } from './server.ts'

export const password = 'correct horse battery'

/** Signs up and confirms with the mailed code. The session is that of the confirmation. */
export async function signUp(app: App, mail: MailServer, email: string): Promise<Session> {
  const response = await app.inject({
    method: 'POST',
    url: '/signup',
    payload: { email, password },
  })
  assert.equal(response.statusCode, 200, response.body)
  const code = codeIn(await mail.waitFor(email))
  const payload = { type: 'signup', email, token: code }
  const verified = await app.inject({ method: 'POST', url: '/verify', payload })
  assert.equal(verified.statusCode, 200, verified.body)
  return verified.json()
}

/** Signs in with the password of `signUp`. */
export async function signIn(
  app: App,
  email: string,
  headers: Record<string, string> = {},
): Promise<Session> {
  const url = '/token?grant_type=password'
  const response = await app.inject({ method: 'POST', url, headers, payload: { email, password } })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

export function refresh(app: App, refreshToken: string, headers: Record<string, string> = {}) {
  const payload = { refresh_token: refreshToken }
  return app.inject({ method: 'POST', url: '/token?grant_type=refresh_token', headers, payload })
}

export function getUser(app: App, { access_token }: Pick<Session, 'access_token'>) {
  return app.inject({ url: '/user', headers: { authorization: `Bearer ${access_token}` } })
}

/** A server on which a sign-up is confirmed at once. */
export const autoconfirm = { AUTH_MAILER_AUTOCONFIRM: 'true' }

/** A new person on a server with `autoconfirm`. */
export async function newPerson(app: App): Promise<Session & { email: string }> {
  const email = `${crypto.randomUUID()}@example.com`
  const response = await app.inject({
    method: 'POST',
    url: '/signup',
    payload: { email, password },
  })
  assert.equal(response.statusCode, 200, response.body)
  return { ...response.json(), email }
}
