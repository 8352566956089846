/** What people do with security keys as second factors, over HTTP. */
import assert from 'node:assert/strict'

import type { Session } from '../../schemas/session.ts'
import { answer, ask, type Challenge, challenge, type Enrolled } from './factors.ts'
import { newPerson } from './people.ts'
import { newSecurityKey } from './security-key.ts'
import type { App } from './server.ts'

export interface Options {
  challenge: string
  rp: object
  user: { id: string; name: string }
  pubKeyCredParams: { alg: number }[]
  excludeCredentials: object[]
  allowCredentials: object[]
}

/** What a browser would be asked to do. */
export function optionsOf({ webauthn }: Challenge): Options {
  const publicKey = webauthn?.credential_options.publicKey ?? assert.fail('no options')
  return Object(publicKey)
}

export const enrolKey = (app: App, token: Session, name = '') =>
  ask<Enrolled>(app, 'POST', '/factors', token, { factor_type: 'webauthn', friendly_name: name })

export function give(
  app: App,
  token: Session,
  factorId: string,
  challenge_id: string,
  credential_response: object,
) {
  return answer(app, token, factorId, { challenge_id, webauthn: { credential_response } })
}

/** An answer that must be right. */
export async function finish(...given: Parameters<typeof give>): Promise<Session> {
  const response = await give(...given)
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** Somebody with a verified security key, at aal2. */
export async function withKey(app: App, of?: Session, name = '', key = newSecurityKey()) {
  const before = of ?? (await newPerson(app))
  const { id } = await enrolKey(app, before, name)
  const asked = await challenge(app, before, id)
  const session = await finish(app, before, id, asked.id, key.create(optionsOf(asked)))
  return { id, key, session, email: before.user.email }
}
