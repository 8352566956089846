/** A session as its client is answered: an access token, the refresh token and the person. */
import type { TokenSession } from '../../../db/sessions.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { HookClaims } from '../../../schemas/access-token.ts'
import type { Session } from '../../../schemas/session.ts'
import { toUser } from '../../../schemas/user.ts'
import type { House } from '../../define-plugin.ts'

export type AccessTokenSession = Pick<
  TokenSession,
  'session_id' | 'session_created_at' | 'aal' | 'not_after' | 'impersonated_by' | 'amr'
>

/** What an access token is made of. */
export interface TokenFacts {
  person: UserRecord
  session: AccessTokenSession
  /** How the session came about, as the hook of access tokens is told. */
  method: string
  ip: string | null
}

/** What an answer is made of. */
export interface SessionFacts extends TokenFacts {
  refreshToken: string
}

/**
 * Asks the operator's hook for the claims, if there is one: never inside a transaction then. Throws token_too_large and,
 * for the hook, HookError.
 */
export async function toSession(
  house: House<'hooks' | 'jwt'>,
  facts: SessionFacts,
  now: Date,
): Promise<Session> {
  return withClaims(house, facts, await settleClaims(house, facts, now), now)
}

/** What the access token says: as the operator's hook has it, if there is one. Throws HookError. */
export async function settleClaims(
  { hooks, jwt }: House<'hooks' | 'jwt'>,
  { person, session, method, ip }: TokenFacts,
  now: Date,
): Promise<HookClaims> {
  const claims = jwt.claimsOf(person, session, now)
  if (!hooks.customizeAccessToken) return claims
  return hooks.customizeAccessToken({ claims, method, ip })
}

/** Throws token_too_large. */
export async function withClaims(
  { jwt }: House<'jwt'>,
  { person, refreshToken }: Pick<SessionFacts, 'person' | 'refreshToken'>,
  claims: HookClaims,
  now: Date,
): Promise<Session> {
  return {
    access_token: await jwt.signAccessToken(claims),
    token_type: 'bearer',
    expires_in: claims.exp - Math.floor(now.getTime() / 1000),
    expires_at: claims.exp,
    refresh_token: refreshToken,
    user: toUser(person),
  }
}
