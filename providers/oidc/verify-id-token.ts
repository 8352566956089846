/**
 * Validates id_tokens (OpenID Connect Core 1.0 §3.1.3.7). oauth4webapi validates them only inside a token response and
 * for one issuer; here apps send them without one, and a provider with tenants has an issuer for each.
 */
import { createHash } from 'node:crypto'

import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'

import { isSameUri } from '../../schemas/values/uris.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { Issuers, ProfileMetadata, ProviderSettings } from '../core/types.ts'
import { asText } from '../http/json.ts'
import { sameText } from './constant-time.ts'
import { verifyWith } from './key-set.ts'

export interface IdTokenCheck {
  /** Whether the issuer belongs to the provider. Checked before anything is fetched. */
  accepts(issuer: string): boolean
  /** The discovery source; the token's issuer by default. */
  discoverAt?: string | URL | undefined
  /** The token must have one of these audiences. */
  audiences: readonly string[]
  /** Whether this server requested the token. */
  isOwnGrant?: boolean
  /** For tokens that are signed with a client secret (HS256): the secret and its client. */
  shared?: SharedKey | undefined
  /** Compared with at_hash if the token has one. */
  accessToken?: string | undefined
  now: Date
}

interface SharedKey {
  secret: string
  clientId: string
}

/** The key of a provider that is configured for HS256. */
export function findSharedKey({
  acceptsHs256,
  secret,
  clientIds: [clientId],
}: ProviderSettings): SharedKey | undefined {
  return acceptsHs256 && secret && clientId ? { secret, clientId } : undefined
}

/** Asymmetric algorithms only: the verification key is public, so anyone could sign with a symmetric one. */
const asymmetric = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
const sharedAlgorithm = 'HS256'
const notBeforeLeewayMs = 300_000

/**
 * Returns the claims of a valid token. Throws ProviderError id_token, or ProviderError discovery when the keys could
 * not be loaded.
 */
export async function verifyIdToken(
  issuers: Issuers,
  token: string,
  check: IdTokenCheck,
): Promise<JWTPayload> {
  const issuer = readIssuer(token)
  if (!check.accepts(issuer)) throw rejected('the issuer is not one of this provider')
  const isShared = decodeProtectedHeader(token).alg === sharedAlgorithm
  const { payload, protectedHeader } =
    check.shared && isShared
      ? await verifyShared(token, issuer, check.shared, check.now)
      : await verify(issuers, await loadMetadata(issuers, issuer, check), token, issuer, check)
  checkTimes(payload, check.now)
  if (!asText(payload.sub)) throw rejected('no sub')
  checkAuthorizedParty(payload, check)
  if (check.accessToken) checkAtHash(payload, protectedHeader.alg, check.accessToken)
  return payload
}

/** Returns the unverified issuer of a token. Throws ProviderError id_token for an invalid JWT. */
export function readIssuer(token: string): string {
  try {
    decodeProtectedHeader(token)
    return asText(decodeJwt(token).iss)
  } catch {
    throw rejected('it is not a JWT')
  }
}

/** A document from a configured source may name any issuer of the provider, otherwise only this one. */
function loadMetadata(
  issuers: Issuers,
  issuer: string,
  check: IdTokenCheck,
): Promise<ProfileMetadata> {
  if (check.discoverAt) return issuers.metadata(check.discoverAt, check.accepts, check.now)
  return issuers.metadata(issuer, (named) => isSameUri(named, issuer), check.now)
}

/** OpenID Connect Core §10.1: the key is the secret of the client that the token was issued to. */
async function verifyShared(
  token: string,
  issuer: string,
  { secret, clientId }: SharedKey,
  now: Date,
): Promise<JWTVerifyResult> {
  const options = {
    ...verifyOptions(issuer, [clientId], now),
    algorithms: [sharedAlgorithm],
  }
  return jwtVerify(token, Buffer.from(secret), options).catch((error: unknown) => {
    throw translated(error)
  })
}

async function verify(
  issuers: Issuers,
  metadata: ProfileMetadata,
  token: string,
  issuer: string,
  { audiences, now }: IdTokenCheck,
): Promise<JWTVerifyResult> {
  const offered = metadata.algorithms.length > 0 ? metadata.algorithms : ['RS256']
  const options = {
    ...verifyOptions(issuer, audiences, now),
    algorithms: offered.filter((algorithm) => asymmetric.includes(algorithm)),
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

function verifyOptions(issuer: string, audiences: readonly string[], now: Date) {
  return {
    issuer,
    audience: [...audiences],
    requiredClaims: ['exp', 'sub'],
    currentDate: now,
    clockTolerance: notBeforeLeewayMs / 1000,
  }
}

/** The issuer may have rotated its keys: under a new id, the same one, or none. */
function mayBeRotated(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed
  )
}

/** The library applies one tolerance to both ends; ours allows clock skew for the start, not for the expiry. */
function checkTimes({ exp = 0 }: JWTPayload, now: Date) {
  if (exp * 1000 <= now.getTime()) throw rejected('it has expired')
}

/**
 * OpenID Connect Core §3.1.3.7 steps 4 and 5. A token with one audience may name another authorized party that
 * requested it for the audience, as Google's do for Android apps.
 */
function checkAuthorizedParty({ azp, aud }: JWTPayload, { audiences, isOwnGrant }: IdTokenCheck) {
  const hasSeveral = Array.isArray(aud) && aud.length > 1
  if (azp === undefined) {
    if (isOwnGrant && hasSeveral) {
      throw rejected('it has several audiences and no authorized party')
    }
    return
  }
  const isOurs = typeof azp === 'string' && audiences.includes(azp)
  if ((isOwnGrant || hasSeveral) && !isOurs) throw rejected('it has another authorized party')
}

/** OpenID Connect Core §3.1.3.6: the left half of the hash, with the hash function of the algorithm. */
function checkAtHash({ at_hash }: JWTPayload, algorithm: string, accessToken: string) {
  if (at_hash === undefined) return
  // Ed25519 uses SHA-512; its names have no length.
  const bits = /(256|384|512)$/.exec(algorithm)?.[1] ?? '512'
  const hash = createHash(`sha${bits}`).update(accessToken).digest()
  const half = hash.subarray(0, hash.length / 2).toString('base64url')
  if (!sameText(asText(at_hash), half)) throw rejected('at_hash does not match the access token')
}

/** Keeps only the message: the library's error also has the claims. */
function translated(error: unknown) {
  if (error instanceof ProviderError) return error
  return rejected(error instanceof errors.JOSEError ? error.message : 'it could not be verified')
}

/** The rejection of an id_token; the reason may be shown. */
export function rejected(reason: string) {
  return new ProviderError('id_token', `Bad ID token: ${reason}`)
}
