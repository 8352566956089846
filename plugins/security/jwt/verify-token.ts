/** Verifies access tokens (RFC 7519, RFC 9068) and remembers the verified ones, because verifying a signature takes time. */
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { errors, type JWTHeaderParameters, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'

import type { Config } from '../../../config/groups/index.ts'
import { nilUuid } from '../../../db/tables/users.ts'
import { AccessTokenClaims } from '../../../schemas/access-token.ts'
import { isForUs } from '../../../schemas/audience.ts'
import { ApiError, badJwt } from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import type { SigningKeys } from './signing-keys/index.ts'
import { maxTokenLength } from './token-size.ts'

export const clockToleranceSeconds = 5

const maxRemembered = 2_048

const claimsCheck = TypeCompiler.Compile(AccessTokenClaims)

interface VerifierOptions {
  signingKeys: SigningKeys
  config: Pick<
    Config,
    | 'AUTH_API_EXTERNAL_URL'
    | 'AUTH_JWT_ADMIN_ROLES'
    | 'AUTH_JWT_ALLOWED_AUDIENCES'
    | 'AUTH_JWT_AUD'
    | 'AUTH_JWT_SERVICE_ISSUERS'
    | 'AUTH_JWT_VALID_METHODS'
  >
  /** The `iss` claim of tokens that are signed here. */
  issuer: string
  takeover: Readonly<{ isShared: boolean }> | undefined
}

/** A function that returns the claims of a token. It throws bad_jwt for an invalid one. */
export function createTokenVerifier(
  options: VerifierOptions,
): (token: string) => Promise<AccessTokenClaims> {
  const verified = createVerifiedTokens(maxRemembered)
  options.signingKeys.onChange(() => verified.clear())
  return async (token) => {
    const now = new Date()
    const known = verified.get(token)
    if (known && !isExpired(known, now)) return known
    verified.delete(token)
    if (token.length > maxTokenLength) throw unverifiable('it is too long')
    const claims = await verifyToken(options, token, now)
    verified.set(token, claims)
    return claims
  }
}

async function verifyToken(
  options: VerifierOptions,
  token: string,
  now: Date,
): Promise<AccessTokenClaims> {
  const findKey = (header: JWTHeaderParameters) => keyFor(options, header, now)
  try {
    const { payload } = await jwtVerify(token, findKey, {
      clockTolerance: clockToleranceSeconds,
      currentDate: now,
    })
    const claims: unknown = payload
    if (!claimsCheck.Check(claims)) throw unverifiable('a claim has the wrong type')
    checkClaims(options, claims)
    return Object.freeze(claims)
  } catch (error) {
    throw toBadJwt(error)
  }
}

/** The only key that may verify a token. The algorithm is that of the key, never the one that the token claims. */
async function keyFor(
  { signingKeys, config }: VerifierOptions,
  header: JWTHeaderParameters,
  now: Date,
) {
  const { kid, alg } = header
  if (!isAccessToken(header)) throw unverifiable('it is no access token')
  let key = signingKeys.ring.find(kid, alg, now)
  if (!key && kid !== undefined) {
    await signingKeys.reload(now)
    key = signingKeys.ring.find(kid, alg, now)
  }
  if (!key) throw unverifiable('its key is unknown')
  const allowed = config.AUTH_JWT_VALID_METHODS ?? [key.alg]
  if (alg !== key.alg || !allowed.includes(alg)) throw unverifiable('its algorithm is not allowed')
  return key.key
}

/**
 * Checks what a valid signature does not prove: the audience, the purpose, the issuer, and whether the token was
 * revoked.
 */
function checkClaims(
  { signingKeys, config, issuer, takeover }: VerifierOptions,
  claims: AccessTokenClaims,
): void {
  // The token of a user who must still verify a second factor is valid for this server only; one of an OAuth client may
  // be valid for other audiences only.
  const isClients = claims.client_id !== undefined && claims.session_id !== undefined
  if (!isClients && !isForUs(config, claims.aud) && claims.aud !== issuer) {
    throw unverifiable('its audience is not accepted here')
  }
  if (isIdToken(claims)) throw unverifiable('it is an ID token')
  const isShared = takeover?.isShared === true
  if (!isIssuedHere(claims, { issuer, isShared, config })) {
    throw unverifiable('it has another issuer')
  }
  if (signingKeys.isRevoked(claims.jti)) throw unverifiable('it was revoked')
}

function isExpired({ exp }: AccessTokenClaims, now: Date): boolean {
  return exp !== undefined && exp + clockToleranceSeconds <= Math.floor(now.getTime() / 1000)
}

function unverifiable(why: string) {
  return badJwt(`invalid JWT: unable to parse or verify signature, ${why}`)
}

/** Maps errors that the token can cause; an unreachable database during key lookup is not one. */
function toBadJwt(error: unknown): unknown {
  if (error instanceof ApiError) return error
  if (error instanceof errors.JWTExpired) return unverifiable('it has expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    return unverifiable(
      error.claim === 'nbf' ? 'it is not valid yet' : 'a claim has the wrong type',
    )
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return unverifiable('its signature is wrong')
  }
  return error instanceof errors.JOSEError ? unverifiable('it is malformed') : error
}

// The purpose of a token with a valid signature.

/** An explicit type must be that of an access token (RFC 8725 §3.11, RFC 9068 §4). */
function isAccessToken({ typ }: JWTHeaderParameters): boolean {
  if (typ === undefined) return true
  return typeof typ === 'string' && /^(application\/)?(at\+)?jwt$/i.test(typ)
}

/**
 * An ID token reports a sign-in to a client (OpenID Connect Core §2); accepting it as an access token would grant more.
 */
function isIdToken(claims: AccessTokenClaims): boolean {
  return claims.session_id === undefined && claims.role === undefined && 'auth_time' in claims
}

interface IssuerRules {
  /** Of tokens that are signed here. */
  issuer: string
  /** Whether a GoTrue shares the database. */
  isShared: boolean
  config: Pick<Config, 'AUTH_JWT_ADMIN_ROLES' | 'AUTH_JWT_SERVICE_ISSUERS'>
}

/**
 * Only this server creates sessions (and a GoTrue that shares the database, which may omit the issuer), so the issuer
 * of a token with a session must match. A token that an operator signs for a user or a service may omit the issuer, but a
 * secret shared with another installation must not make its users and admins valid here. Published API keys have issuers
 * of their own. A token without user and admin role gives no rights.
 */
function isIssuedHere(
  { iss, sub, role, session_id }: AccessTokenClaims,
  { issuer, isShared, config }: IssuerRules,
): boolean {
  if (session_id && session_id !== nilUuid) return iss === issuer || (isShared && iss === undefined)
  if (iss === undefined || iss === issuer) return true
  if (sub && isUuid(sub)) return false
  const isAdmins = role !== undefined && config.AUTH_JWT_ADMIN_ROLES.includes(role)
  return !isAdmins || config.AUTH_JWT_SERVICE_ISSUERS.includes(iss)
}

/** Longer tokens are rare and are verified each time, so that memory is bounded. */
const maxCachedLength = 4096

/** A cache of tokens whose signature was verified. Entries depend on the keys: call `clear` when keys change. */
export function createVerifiedTokens(maxTokens: number) {
  return new LRUCache<string, AccessTokenClaims>({
    max: maxTokens,
    maxEntrySize: maxCachedLength,
    sizeCalculation: (_claims, token) => token.length,
  })
}
