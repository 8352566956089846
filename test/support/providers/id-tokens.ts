/** Genuine and forged id_tokens, and the enabled providers. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { inspect } from 'node:util'

import type { JWTPayload } from 'jose'

import type { ProviderSettings } from '../../../providers/core/types.ts'
import { identityFromIdToken } from '../../../providers/id-token.ts'
import {
  IdTokenError,
  type IdTokenErrorKind,
  type IdTokenRequest,
} from '../../../providers/id-token-selection.ts'
import { fakeIssuer } from './fake-issuer.ts'
import { client } from './fake-provider.ts'
import { signIdToken, signing } from './keys.ts'
import { createUpstream, fakeProviderSettings } from './settings.ts'

export const now = new Date('2026-02-03T04:05:06Z')
export const email = 'ann@ex.test'
export const seconds = now.getTime() / 1000
export const tenant = '11111111-2222-3333-4444-555555555555'
export const personal = '9188040d-6c67-4c5b-b112-36a304b66dad'
export const microsoft = 'https://login.microsoftonline.com'
export const atHash = createHash('sha256')
  .update('at1')
  .digest()
  .subarray(0, 16)
  .toString('base64url')

export const enabled = new Map<string, ProviderSettings>([
  ['apple', fakeProviderSettings({ bundleId: 'com.ex.app' })],
  ['azure', fakeProviderSettings({})],
  ['facebook', fakeProviderSettings({})],
  ['google', fakeProviderSettings({})],
  ['kakao', fakeProviderSettings({})],
  ['keycloak', fakeProviderSettings({ url: 'https://kc.test/realms/r' })],
  ['snapchat', fakeProviderSettings({ emailOptional: true })],
  ['acme', fakeProviderSettings({ issuer: 'https://acme.test' })],
])

export const base = { iss: 'https://accounts.google.com', aud: client.id, sub: 'sub-1', email }

export function token(claims: JWTPayload, key = signing): Promise<string> {
  return signIdToken({ ...base, ...claims }, now, key)
}

export function unsigned(header: object, signature: string): string {
  const claims = { ...base, iat: seconds, exp: seconds + 300 }
  return `${encode(header)}.${encode(claims)}.${signature}`
}

export function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

export interface World {
  providers?: ReadonlyMap<string, ProviderSettings>
  issuer?: ReturnType<typeof fakeIssuer>
}

export function attempt(
  request: IdTokenRequest,
  { providers = enabled, issuer = fakeIssuer() }: World = {},
) {
  const upstream = createUpstream(issuer.fetch)
  const allowedIssuers = new Map([['https://other.test', ['app']]])
  return identityFromIdToken(request, {
    getProviderHttp: () => upstream,
    providers,
    allowedIssuers,
    now,
  })
}

export async function idTokenError(promise: Promise<unknown>): Promise<IdTokenErrorKind> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof IdTokenError, String(error))
  // As a logger would print it, causes included.
  const printed = inspect(error, { depth: 9 })
  assert.ok(!printed.includes(email) && !printed.includes('eyJ'), printed)
  return error.kind
}

export function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}
