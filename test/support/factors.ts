/** What people do with second factors, over HTTP, with an authenticator app that has a clock of its own. */
import assert from 'node:assert/strict'

import { decodeJwt } from 'jose'
import { Secret, TOTP } from 'otpauth'

import type { Session } from '../../schemas/session.ts'
import { autoconfirm, newPerson } from './people.ts'
import type { App } from './server.ts'

export const rpId = 'app.example'
export const rpOrigin = 'https://app.example'

/** All kinds of factors switched on. */
export const everyFactor = {
  ...autoconfirm,
  AUTH_MFA_PHONE_ENROLL_ENABLED: 'true',
  AUTH_MFA_PHONE_VERIFY_ENABLED: 'true',
  AUTH_MFA_PHONE_MAX_FREQUENCY: '0',
  AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true',
  AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_ID: rpId,
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'The app',
  AUTH_WEBAUTHN_RP_ORIGINS: `${rpOrigin},https://other.example`,
}

type Token = Pick<Session, 'access_token'>
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export function send(app: App, method: Method, url: string, { access_token }: Token, payload = {}) {
  const headers = { authorization: `Bearer ${access_token}` }
  return app.inject({ method, url, headers, ...(method !== 'GET' && { payload }) })
}

/** The answer of a request that must succeed. */
export async function ask<Answer>(
  app: App,
  method: Method,
  url: string,
  token: Token,
  payload = {},
): Promise<Answer> {
  const response = await send(app, method, url, token, payload)
  assert.equal(response.statusCode, 200, `${method} ${url}: ${response.body}`)
  return response.json()
}

/** Asks to add a factor. */
export const enrol = (app: App, token: Token, body: object) =>
  send(app, 'POST', '/factors', token, body)

export interface Enrolled {
  id: string
  type: string
  friendly_name: string
  totp?: { qr_code: string; secret: string; uri: string }
  phone?: string
}

export interface Challenge {
  id: string
  type: string
  expires_at: number
  webauthn?: { type: string; credential_options: { publicKey: { challenge: string } } }
}

/** An authenticator app with one account; each code it shows is of a later time step than the one before. */
export interface Authenticator {
  id: string
  secret: string
  /** The code of the step so many steps away from now. */
  code(away?: number): string
}

export async function addTotp(app: App, token: Token, name = ''): Promise<Authenticator> {
  const payload = { factor_type: 'totp', friendly_name: name }
  const { id, totp } = await ask<Enrolled>(app, 'POST', '/factors', token, payload)
  const secret = totp?.secret ?? assert.fail('no secret')
  return { id, secret, code: (away = 0) => codeOf(secret, away) }
}

export function codeOf(secret: string, away = 0): string {
  const timestamp = Date.now() + away * 30_000
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
}

/** A code that is none of those accepted now. */
export function wrongCode(secret: string): string {
  const right = [-2, -1, 0, 1, 2].map((away) => codeOf(secret, away))
  const candidates = ['000000', '111111', '222222', '333333', '444444', '555555']
  return candidates.find((code) => !right.includes(code)) ?? assert.fail()
}

export const challenge = (app: App, token: Token, factorId: string, payload = {}) =>
  ask<Challenge>(app, 'POST', `/factors/${factorId}/challenge`, token, payload)

/** Answers a challenge as it is given. */
export const answer = (app: App, token: Token, factorId: string, payload: object) =>
  send(app, 'POST', `/factors/${factorId}/verify`, token, payload)

/** Challenges and answers with a code that must be right. */
export async function prove(
  app: App,
  token: Token,
  { id, code }: Authenticator,
  away = 0,
): Promise<Session> {
  const { id: challenge_id } = await challenge(app, token, id)
  const response = await answer(app, token, id, { challenge_id, code: code(away) })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** Somebody with a verified authenticator app: at aal2, and the tokens from before. The code of this step is used up. */
export async function guarded(app: App) {
  const before = await newPerson(app)
  const factor = await addTotp(app, before)
  const session = await prove(app, before, factor)
  return { email: before.email, before, factor, session }
}

/** The claims of an access token. */
export function claimsOf({ access_token }: Token): Record<string, unknown> & { amr: Amr[] } {
  return decodeJwt<{ amr: Amr[] }>(access_token)
}

interface Amr {
  method: string
  timestamp: number
}
