/** What a token with a right signature was made for. */
import type { JWTHeaderParameters } from 'jose'

import { nilUuid } from '../../db/users.ts'
import type { AccessTokenClaims } from '../../schemas/access-token.ts'
import { isUuid } from '../../schemas/fields.ts'

/** A type that is told must be that of an access token (RFC 8725 §3.11, RFC 9068 §4). */
export function isAccessToken({ typ }: JWTHeaderParameters): boolean {
  if (typ === undefined) return true
  return typeof typ === 'string' && /^(application\/)?(at\+)?jwt$/i.test(typ)
}

/**
 * Only this server opens sessions (and a GoTrue that shares the database, which may leave the issuer out), so a token with
 * a session names this server. A token that an operator signs in a person's place may leave the issuer out, but a secret
 * shared with another installation makes nobody a person here. Whoever signs for a service may call the issuer anything,
 * as the published API keys do.
 */
export function isIssuedHere(
  { iss, sub, session_id }: AccessTokenClaims,
  issuer: string,
  isShared: boolean,
): boolean {
  if (session_id && session_id !== nilUuid) return iss === issuer || (isShared && iss === undefined)
  return iss === undefined || iss === issuer || !(sub && isUuid(sub))
}
