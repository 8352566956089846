/** Requests of users with passkeys, with devices in software. */
import assert from 'node:assert/strict'

import type { Passkey } from '../../../schemas/passkey.ts'
import type { Session } from '../../../schemas/session.ts'
import { call } from '../requests.ts'
import type { App } from '../server.ts'
import { autoconfirm, signUpUser } from '../users.ts'
import { type Authenticator, newAuthenticator, type Traits } from './authenticator.ts'

export const rpId = 'app.example'
export const origin = 'https://app.example'

/** Passkeys enabled and users autoconfirmed. */
export const passkeysOn = {
  ...autoconfirm,
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_ID: rpId,
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'The app',
  AUTH_WEBAUTHN_RP_ORIGINS: `${origin},https://shop.app.example`,
}

export type Token = Pick<Session, 'access_token'>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Question {
  challenge_id: string
  options: { challenge: string; user: { id: string; name: string; displayName: string } } & Record<
    string,
    unknown
  >
  expires_at: number
}

/** A device whose user verifies by fingerprint. */
export const newDevice = (traits: Partial<Traits> = {}): Authenticator =>
  newAuthenticator({ rpId, origin, verifies: true, syncs: true, discoverable: true, ...traits })

export const send = (app: App, method: Method, url: string, token: Token, payload?: object) =>
  app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${token.access_token}` },
    ...(payload && { payload }),
  })

/** The challenge of a registration that must be allowed. */
export async function createRegistrationChallenge(app: App, token: Token): Promise<Question> {
  return bodyOf200(await send(app, 'POST', '/passkeys/registration/options', token, {}))
}

export const finishRegistration = (app: App, token: Token, payload: object) =>
  send(app, 'POST', '/passkeys/registration/verify', token, payload)

/** The challenge of a sign-in. */
export async function createAuthenticationChallenge(app: App): Promise<Question> {
  return bodyOf200(await call(app, '/passkeys/authentication/options', {}))
}

export const finishSignIn = (app: App, payload: object) =>
  call(app, '/passkeys/authentication/verify', payload)

/** Registers a passkey, which must be accepted. */
export async function addPasskey(app: App, token: Token, device = newDevice()) {
  const { challenge_id, options } = await createRegistrationChallenge(app, token)
  const credential = device.create(options)
  const response = await finishRegistration(app, token, { challenge_id, credential })
  const passkey: Passkey = bodyOf200(response)
  return { device, passkey }
}

/** Signs in with a passkey; returns any response. */
export async function tryPasskey(app: App, device: Authenticator) {
  const { challenge_id, options } = await createAuthenticationChallenge(app)
  return finishSignIn(app, { challenge_id, credential: device.get(options) })
}

/** Signs in with a passkey, which must be accepted. */
export async function signInBy(app: App, device: Authenticator): Promise<Session> {
  return bodyOf200(await tryPasskey(app, device))
}

/** A user with a passkey. */
export async function userWithPasskey(app: App, traits: Partial<Traits> = {}) {
  const user = await signUpUser(app)
  const { device, passkey } = await addPasskey(app, user, newDevice(traits))
  return { user, device, passkey }
}

export async function fetchPasskeys(app: App, token: Token): Promise<Passkey[]> {
  return bodyOf200(await send(app, 'GET', '/passkeys', token))
}

export function bodyOf200<Answer>(response: Awaited<ReturnType<typeof call>>): Answer {
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}
