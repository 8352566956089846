/** The person and the session that the claims of a verified token name. */
import type { FastifyRequest } from 'fastify'

import type { SessionRecord } from '../../db/sessions.ts'
import { nilUuid, type UserRecord } from '../../db/users.ts'
import { badJwt, sessionNotFound, userFromTokenNotFound, validationFailed } from '../../errors.ts'
import type { AccessTokenClaims } from '../../schemas/access-token.ts'
import { isUuid } from '../../schemas/fields.ts'
import type { LookUps } from './look-ups.ts'

/** A person with the token they showed; tokens without a session_id have no session. */
export interface Bearer {
  claims: AccessTokenClaims
  user: UserRecord
  session: SessionRecord | undefined
}

/** Throws bad_jwt, user_not_found or session_not_found. */
export async function findBearer(lookUps: LookUps, claims: AccessTokenClaims): Promise<Bearer> {
  const { sub } = claims
  const sessionId = sessionIdOf(claims)
  if (!sub) throw badJwt('invalid claim: missing sub claim')
  if (!isUuid(sub)) throw badJwt('invalid claim: sub claim must be a UUID', 400)
  if (sessionId && !isUuid(sessionId)) {
    throw badJwt('invalid claim: session_id claim must be a UUID')
  }
  const session = sessionId ? await lookUps.session(sessionId, sub) : undefined
  if (session) return { claims, user: session, session }
  const user = await lookUps.person(sub)
  if (!user) throw userFromTokenNotFound()
  if (sessionId) throw sessionNotFound()
  return { claims, user, session: undefined }
}

/** The nil UUID stands for no session. */
export function sessionIdOf({ session_id }: AccessTokenClaims): string | undefined {
  return session_id === nilUuid ? undefined : session_id
}

/** Throws validation_failed when the request asks for another audience than the token's. */
export function checkAudience(request: FastifyRequest, { aud }: AccessTokenClaims) {
  const asked = request.headers['x-jwt-aud']
  if (asked !== undefined && asked !== aud) {
    throw validationFailed("Token audience doesn't match request audience")
  }
}
