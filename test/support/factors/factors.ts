/** Requests of users with second factors, and an authenticator app with a separate clock. */
import assert from 'node:assert/strict'

import { decodeJwt } from 'jose'
import { Secret, TOTP } from 'otpauth'

import type { Session } from '../../../schemas/session.ts'
import type { App } from '../server.ts'
import { autoconfirm, signUpUser } from '../users.ts'

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

/** The body of a request that must succeed. */
export async function request<Body>(
  app: App,
  method: Method,
  url: string,
  token: Token,
  payload = {},
): Promise<Body> {
  const response = await send(app, method, url, token, payload)
  assert.equal(response.statusCode, 200, `${method} ${url}: ${response.body}`)
  return response.json()
}

/** Requests an enrollment. */
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

/** A TOTP app with one account; each code is of a later time step than the previous one. */
export interface Authenticator {
  id: string
  secret: string
  /** The code of the step so many steps away from now. */
  code(away?: number): string
}

export async function addTotp(app: App, token: Token, name = ''): Promise<Authenticator> {
  const payload = { factor_type: 'totp', friendly_name: name }
  const { id, totp } = await request<Enrolled>(app, 'POST', '/factors', token, payload)
  const secret = totp?.secret ?? assert.fail('no secret')
  return { id, secret, code: (away = 0) => totpCode(secret, away) }
}

export function totpCode(secret: string, away = 0): string {
  const timestamp = Date.now() + away * 30_000
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
}

/** A code that is not accepted now. */
export function wrongCode(secret: string): string {
  const right = [-2, -1, 0, 1, 2].map((away) => totpCode(secret, away))
  const candidates = ['000000', '111111', '222222', '333333', '444444', '555555']
  return candidates.find((code) => !right.includes(code)) ?? assert.fail()
}

export const challenge = (app: App, token: Token, factorId: string, payload = {}) =>
  request<Challenge>(app, 'POST', `/factors/${factorId}/challenge`, token, payload)

/** Sends a challenge response. */
export const verifyChallenge = (app: App, token: Token, factorId: string, payload: object) =>
  send(app, 'POST', `/factors/${factorId}/verify`, token, payload)

/** Creates a challenge and sends a code that must be correct. */
export async function stepUp(
  app: App,
  token: Token,
  { id, code }: Authenticator,
  away = 0,
): Promise<Session> {
  const { id: challenge_id } = await challenge(app, token, id)
  const response = await verifyChallenge(app, token, id, { challenge_id, code: code(away) })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** A user with a verified TOTP factor: at aal2, with the previous tokens. The code of this step is used. */
export async function userWithTotp(app: App) {
  const before = await signUpUser(app)
  const factor = await addTotp(app, before)
  const session = await stepUp(app, before, factor)
  return { email: before.email, before, factor, session }
}

/** The claims of an access token. */
export function tokenClaims({ access_token }: Token): Record<string, unknown> & { amr: Amr[] } {
  return decodeJwt<{ amr: Amr[] }>(access_token)
}

interface Amr {
  method: string
  timestamp: number
}
