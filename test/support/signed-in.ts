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
