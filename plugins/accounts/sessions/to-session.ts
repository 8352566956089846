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

/** What an answer is made of. */
export interface SessionFacts {
  person: UserRecord
  session: AccessTokenSession
  refreshToken: string
  /** How the session came about, as the hook of access tokens is told. */
  method: string
  ip: string | null
}

/**
 * Asks the operator's hook for the claims, if there is one: never inside a transaction then. Throws token_too_large and,
 * for the hook, HookError.
 */
export async function toSession(
  { hooks, jwt }: House<'hooks' | 'jwt'>,
  { person, session, refreshToken, method, ip }: SessionFacts,
  now: Date,
): Promise<Session> {
  const ours = jwt.claimsOf(person, session, now)
  const claims: HookClaims = hooks.customizeAccessToken
    ? await hooks.customizeAccessToken({ claims: ours, method, ip })
    : ours
  return {
    access_token: await jwt.signAccessToken(claims),
    token_type: 'bearer',
    expires_in: claims.exp - Math.floor(now.getTime() / 1000),
    expires_at: claims.exp,
    refresh_token: refreshToken,
    user: toUser(person),
  }
}
