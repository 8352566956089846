/** Loads the user and session named by the claims of a verified token. */
import type { FastifyRequest } from 'fastify'

import type { SessionRecord } from '../../../db/sessions/sessions.ts'
import { nilUuid } from '../../../db/tables/users.ts'
import { isBanned, type UserRecord } from '../../../db/users/users.ts'
import type { AccessTokenClaims } from '../../../schemas/access-token.ts'
import {
  badJwt,
  clientTokenRejected,
  sessionNotFound,
  unexpectedAudience,
  userBanned,
  userFromTokenNotFound,
  validationFailed,
} from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import type { LookUps } from './look-ups.ts'

/** A user with the token they presented; tokens without a session_id have no session. */
export interface AuthContext {
  claims: AccessTokenClaims
  user: UserRecord
  session: SessionRecord | undefined
}

/** Throws bad_jwt, user_not_found or session_not_found. */
async function loadAuthContext(lookUps: LookUps, claims: AccessTokenClaims): Promise<AuthContext> {
  const { sub } = claims
  const sessionId = getSessionId(claims)
  if (!sub) throw badJwt('invalid claim: missing sub claim')
  if (!isUuid(sub)) throw badJwt('invalid claim: sub claim must be a UUID', 400)
  if (sessionId && !isUuid(sessionId)) {
    throw badJwt('invalid claim: session_id claim must be a UUID')
  }
  const session = sessionId ? await lookUps.session(sessionId, sub) : undefined
  if (session) return { claims, user: session, session }
  const user = await lookUps.user(sub)
  if (!user) throw userFromTokenNotFound()
  if (sessionId) throw sessionNotFound()
  return { claims, user, session: undefined }
}

/**
 * As loadAuthContext, for a user who is neither deleted nor banned. Accepts tokens of OAuth clients. Throws user_banned
 * as well.
 */
export async function findLiveOrClient(
  lookUps: LookUps,
  claims: AccessTokenClaims,
  now: Date,
): Promise<AuthContext> {
  const auth = await loadAuthContext(lookUps, claims)
  if (auth.user.deleted_at) throw userFromTokenNotFound()
  if (isBanned(auth.user, now)) throw userBanned(403)
  return auth
}

/** As findLiveOrClient, but rejects tokens of OAuth clients. Throws insufficient_scope as well. */
export async function findLive(lookUps: LookUps, claims: AccessTokenClaims, now: Date) {
  return rejectClient(await findLiveOrClient(lookUps, claims, now))
}

/** The nil UUID means no session. */
export function getSessionId({ session_id }: AccessTokenClaims): string | undefined {
  return session_id === nilUuid ? undefined : session_id
}

/** Where GoTrue has an error code of its own for another audience. */
const unlinking = '/user/identities/:identity_id'

/** Throws validation_failed or unexpected_audience when the request names another audience than the token. */
export function checkAudience(request: FastifyRequest, { aud }: AccessTokenClaims) {
  const requested = request.headers['x-jwt-aud']
  if (requested === undefined || requested === aud) return
  if (request.routeOptions.url === unlinking) throw unexpectedAudience()
  throw validationFailed("Token audience doesn't match request audience")
}

/** An OAuth client acts for a user within its scopes only (RFC 6749 §1.4). Throws insufficient_scope. */
function rejectClient(auth: AuthContext): AuthContext {
  if (auth.session?.oauth_client_id) throw clientTokenRejected()
  return auth
}

/** The user that the request's path names. */
export function pathUserId(params: unknown): string[] {
  const { user_id: id }: { user_id?: unknown } = Object(params)
  return typeof id === 'string' && isUuid(id) ? [id] : []
}
