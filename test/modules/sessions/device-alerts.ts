/** A server that notifies users of new devices, and device headers. */
import assert from 'node:assert/strict'

import type { Session } from '../../../schemas/session.ts'
import { call } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { autoconfirm, newAddress, password, signedIn } from '../../support/users.ts'

export const alerting = { ...autoconfirm, AUTH_MAILER_NOTIFICATIONS_NEW_SIGN_IN_ENABLED: 'true' }

export const windows = (version: number) =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`
export const laptop = { 'user-agent': windows(140) }
export const phone = {
  'user-agent':
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
}

/** A user who signed up on a laptop. */
export async function laptopUser({ app }: Built): Promise<Session & { email: string }> {
  const email = newAddress()
  const response = await call(app, '/signup', { email, password }, { headers: laptop })
  assert.equal(response.statusCode, 200, response.body)
  return { ...response.json<Session>(), email }
}

export const signInFrom = ({ app }: Built, email: string, headers: Record<string, string>) =>
  signedIn(app, email, headers)
