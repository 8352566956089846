/** The token response of a session: access token, refresh token and user. */
import type { FastifyInstance } from 'fastify'

import type { TokenSession } from '../../db/sessions/sessions.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { HookClaims } from '../../schemas/access-token.ts'
import type { VerifiedContacts } from '../../schemas/oauth/shared-metadata.ts'
import type { Session } from '../../schemas/session.ts'
import { toUser } from '../../schemas/user.ts'

/** Claims of an OAuth client's access token. */
export interface GrantedScope {
  /** The scopes of this token; those of the session when absent (RFC 6749 §6). */
  scopes?: string
  /** The audience; that of the user when absent. */
  audience?: readonly string[]
  /** The client id on the wire; the id of its row when absent. */
  clientId?: string
  /** Single claims that the userinfo endpoint returns for it. */
  userinfoClaims?: readonly string[]
  /** Which contacts of the user are verified. */
  verified?: VerifiedContacts
  /** Whether the client may use the user's data: by the user's role, and in the database. */
  hasDataAccess?: boolean
}

type AccessTokenSession = Pick<
  TokenSession,
  'session_id' | 'session_created_at' | 'aal' | 'not_after' | 'impersonated_by' | 'amr'
> &
  Partial<Pick<TokenSession, 'oauth_client_id' | 'scopes' | 'organization'>> &
  Omit<GrantedScope, 'scopes'>

/** The input of an access token. */
interface TokenClaimsInput {
  user: UserRecord
  session: AccessTokenSession
  /** The authentication method, for the access token hook. */
  method: string
  ip: string | null
}

/** The input of a token response. */
export interface AccessTokenInput extends TokenClaimsInput {
  refreshToken: string
}

/**
 * Builds the response and calls the access token hook, if any: then never inside a transaction. Throws token_too_large
 * and HookError.
 */
export async function toSession(
  app: FastifyInstance,
  facts: AccessTokenInput,
  now: Date,
): Promise<Session> {
  return withClaims(app, facts, await computeClaims(app, facts, now), now)
}

/** The claims of the access token, after the hook. Throws HookError. */
export async function computeClaims(
  { hooks, jwt }: FastifyInstance,
  { user, session, method, ip }: TokenClaimsInput,
  now: Date,
): Promise<HookClaims> {
  const claims = jwt.buildClaims(user, session, now)
  if (!hooks.customizeAccessToken) return claims
  const customized = await hooks.customizeAccessToken({ claims, method, ip })
  const isRestricted = session.oauth_client_id && !session.hasDataAccess
  // The hook was written for tokens of users.
  return isRestricted ? { ...customized, role: claims.role, aud: claims.aud } : customized
}

/** Throws token_too_large. */
export async function withClaims(
  app: FastifyInstance,
  { user, session, refreshToken }: Pick<AccessTokenInput, 'user' | 'session' | 'refreshToken'>,
  given: HookClaims,
  now: Date,
): Promise<Session> {
  const { jwt } = app
  const claims = limited(app, { user, session }, given)
  return {
    access_token: await jwt.signAccessToken(claims),
    token_type: 'bearer',
    expires_in: claims.exp - Math.floor(now.getTime() / 1000),
    expires_at: claims.exp,
    refresh_token: refreshToken,
    user: toUser(user),
  }
}

/**
 * Until the factor required by the role is verified, the token is valid for this server only, whatever the hook
 * returns.
 */
function limited(
  { bearerAuth: { sessionPolicy }, jwt }: FastifyInstance,
  { user, session }: Pick<AccessTokenInput, 'user' | 'session'>,
  claims: HookClaims,
): HookClaims {
  const requiredFactor = sessionPolicy.requiredByRole({ user, session }, claims.role)
  return requiredFactor ? { ...claims, role: sessionPolicy.limitedRole, aud: jwt.issuer } : claims
}
