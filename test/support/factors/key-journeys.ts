/** Requests of users with security keys as second factors. */
import assert from 'node:assert/strict'

import type { Session } from '../../../schemas/session.ts'
import type { App } from '../server.ts'
import { signUpUser } from '../users.ts'
import { type Challenge, challenge, type Enrolled, request, verifyChallenge } from './factors.ts'
import { newSecurityKey } from './security-key.ts'

export interface Options {
  challenge: string
  rp: object
  user: { id: string; name: string }
  pubKeyCredParams: { alg: number }[]
  excludeCredentials: object[]
  allowCredentials: object[]
}

/** The options for the browser. */
export function browserOptions({ webauthn }: Challenge): Options {
  const publicKey = webauthn?.credential_options.publicKey ?? assert.fail('no options')
  return Object(publicKey)
}

export const enrolKey = (app: App, token: Session, name = '') =>
  request<Enrolled>(app, 'POST', '/factors', token, {
    factor_type: 'webauthn',
    friendly_name: name,
  })

export function give(
  app: App,
  token: Session,
  factorId: string,
  challenge_id: string,
  credential_response: object,
) {
  return verifyChallenge(app, token, factorId, { challenge_id, webauthn: { credential_response } })
}

/** A response that must be correct. */
export async function finish(...given: Parameters<typeof give>): Promise<Session> {
  const response = await give(...given)
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** A user with a verified security key, at aal2. */
export async function userWithSecurityKey(
  app: App,
  of?: Session,
  name = '',
  key = newSecurityKey(),
) {
  const before = of ?? (await signUpUser(app))
  const { id } = await enrolKey(app, before, name)
  const pending = await challenge(app, before, id)
  const session = await finish(app, before, id, pending.id, key.create(browserOptions(pending)))
  return { id, key, session, email: before.user.email }
}
