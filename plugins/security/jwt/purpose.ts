/** The purpose of a token with a valid signature. */
import type { JWTHeaderParameters } from 'jose'

import { nilUuid } from '../../../db/tables/users.ts'
import type { AccessTokenClaims } from '../../../schemas/access-token.ts'
import { isUuid } from '../../../schemas/fields.ts'

/** An explicit type must be that of an access token (RFC 8725 §3.11, RFC 9068 §4). */
export function isAccessToken({ typ }: JWTHeaderParameters): boolean {
  if (typ === undefined) return true
  return typeof typ === 'string' && /^(application\/)?(at\+)?jwt$/i.test(typ)
}

/**
 * An ID token reports a sign-in to a client (OpenID Connect Core §2); accepting it as an access token would grant more.
 */
export function isIdToken(claims: AccessTokenClaims): boolean {
  return claims.session_id === undefined && claims.role === undefined && 'auth_time' in claims
}

/**
 * Only this server creates sessions (and a GoTrue that shares the database, which may omit the issuer), so the issuer
 * of a token with a session must match. A token that an operator signs for a user may omit the issuer, but a secret
 * shared with another installation must not make its users valid here. Service tokens may have any issuer, as published
 * API keys do.
 */
export function isIssuedHere(
  { iss, sub, session_id }: AccessTokenClaims,
  issuer: string,
  isShared: boolean,
): boolean {
  if (session_id && session_id !== nilUuid) return iss === issuer || (isShared && iss === undefined)
  return iss === undefined || iss === issuer || !(sub && isUuid(sub))
}
