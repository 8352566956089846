/**
 * Validation of id_tokens (OpenID Connect Core 1.0 §3.1.3.7). oauth4webapi reads them only inside a token reply, and of
 * one issuer at a time; here apps bring theirs alone, and a provider with tenants has an issuer for each.
 */
import { createHash } from 'node:crypto'

import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyResult,
} from 'jose'

import { sameText } from './constant-time.ts'
import type { Issuers } from './issuers.ts'
import { text } from './json.ts'
import { verifyWith } from './key-set.ts'
import type { Metadata } from './metadata.ts'
import { ProviderError } from './provider.ts'

export interface IdTokenCheck {
  /** The issuers this provider has. Asked before anything is fetched. */
  accepts(issuer: string): boolean
  /** Where discovery lives; the token's own issuer by default. */
  discoverAt?: string | undefined
  /** One of these must be among the token's audiences. */
  audiences: readonly string[]
  /** Whether this server itself has asked for the token. */
  isOwnGrant?: boolean
  /** Compared with at_hash when the token has one. */
  accessToken?: string | undefined
  now: Date
}

/** No secret-key algorithm: the key that verifies is public, so anyone could sign with it. */
const asymmetric = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
const notBeforeLeewayMs = 300_000

/**
 * The claims of a token that its issuer signed for us and that is valid now.
 * Throws ProviderError id_token; ProviderError discovery when the keys could not be had.
 */
export async function verifyIdToken(
  issuers: Issuers,
  token: string,
  check: IdTokenCheck,
): Promise<JWTPayload> {
  const issuer = issuerOf(token)
  if (!check.accepts(issuer)) throw rejected('the issuer is not one of this provider')
  const metadata = await metadataOf(issuers, issuer, check)
  const { payload, protectedHeader } = await verify(issuers, metadata, token, issuer, check)
  checkTimes(payload, check.now)
  if (!text(payload.sub)) throw rejected('no sub')
  checkAuthorizedParty(payload, check)
  if (check.accessToken) checkAtHash(payload, protectedHeader.alg, check.accessToken)
  return payload
}

/** The issuer a token claims, unverified. Throws ProviderError id_token for what is no JWT. */
export function issuerOf(token: string): string {
  try {
    decodeProtectedHeader(token)
    return text(decodeJwt(token).iss)
  } catch {
    throw rejected('it is not a JWT')
  }
}

/** With discovery elsewhere, the document may name any issuer of this provider; else only this. */
function metadataOf(issuers: Issuers, issuer: string, check: IdTokenCheck): Promise<Metadata> {
  if (check.discoverAt) return issuers.metadata(check.discoverAt, check.accepts, check.now)
  return issuers.metadata(issuer, (named) => named === issuer, check.now)
}

async function verify(
  issuers: Issuers,
  metadata: Metadata,
  token: string,
  issuer: string,
  { audiences, now }: IdTokenCheck,
): Promise<JWTVerifyResult> {
  const offered = metadata.algorithms.length > 0 ? metadata.algorithms : ['RS256']
  const options = {
    algorithms: offered.filter((algorithm) => asymmetric.includes(algorithm)),
    issuer,
    audience: [...audiences],
    requiredClaims: ['exp', 'sub'],
    currentDate: now,
    clockTolerance: notBeforeLeewayMs / 1000,
  }
  try {
    return await verifyWith(await issuers.keys(metadata.jwksUri, now), token, options)
  } catch (error) {
    if (!mayBeRotated(error)) throw translated(error)
  }
  const keys = await issuers.newerKeys(metadata.jwksUri, now)
  return verifyWith(keys, token, options).catch((error: unknown) => {
    throw translated(error)
  })
}

/** The issuer may have another key by now: under an id of its own, under the one before, or under none. */
function mayBeRotated(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed
  )
}

/** The library has one leeway for both ends; ours is for clocks that run ahead, not for expiry. */
function checkTimes({ exp = 0 }: JWTPayload, now: Date) {
  if (exp * 1000 <= now.getTime()) throw rejected('it has expired')
}

/**
 * OpenID Connect Core §3.1.3.7 steps 4 and 5. A token with one audience that an app brought may name another party: the
 * one that asked for it on behalf of the audience, as Google's does for an Android app.
 */
function checkAuthorizedParty({ azp, aud }: JWTPayload, { audiences, isOwnGrant }: IdTokenCheck) {
  const hasSeveral = Array.isArray(aud) && aud.length > 1
  if (azp === undefined) {
    if (isOwnGrant && hasSeveral) {
      throw rejected('of several audiences none is the authorized party')
    }
    return
  }
  const isOurs = typeof azp === 'string' && audiences.includes(azp)
  if ((isOwnGrant || hasSeveral) && !isOurs) throw rejected('the authorized party is another')
}

/** OpenID Connect Core §3.1.3.6: the left half of the hash that goes with the algorithm. */
function checkAtHash({ at_hash }: JWTPayload, algorithm: string, accessToken: string) {
  if (at_hash === undefined) return
  // Ed25519 hashes with SHA-512, and its names say no length.
  const bits = /(256|384|512)$/.exec(algorithm)?.[1] ?? '512'
  const hash = createHash(`sha${bits}`).update(accessToken).digest()
  const half = hash.subarray(0, hash.length / 2).toString('base64url')
  if (!sameText(text(at_hash), half)) throw rejected('at_hash belongs to another access token')
}

/** Only the message is kept: the library's error also carries the claims. */
function translated(error: unknown) {
  if (error instanceof ProviderError) return error
  return rejected(error instanceof errors.JOSEError ? error.message : 'it could not be checked')
}

/** The refusal of an id_token; the reason may be shown. */
export function rejected(reason: string) {
  return new ProviderError('id_token', `Bad ID token: ${reason}`)
}
