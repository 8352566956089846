/**
 * Repeats the authorization as the first step of a transaction, under a lock that keeps it valid until the end: the
 * user may have signed out while the request was processed.
 */
import type { Trx } from '../../../db/core/database.ts'
import { lockUsers } from '../../../db/users/update-user.ts'
import { sessionNotFound } from '../../../schemas/errors.ts'
import { type AuthContext, findLive } from './find-bearer.ts'
import type { SessionAuth } from './guards.ts'
import { lookUpsIn } from './look-ups.ts'

/** Returns the current user and session. Throws like `authenticate`. */
export async function reauthorize(
  trx: Trx,
  { user, claims }: AuthContext,
  now: Date,
): Promise<AuthContext> {
  await lockUsers(trx, [user.id])
  return findLive(lookUpsIn(trx), claims, now)
}

/** As `reauthorize`, for requests that require a session. Throws session_not_found as well. */
export async function reauthorizeSession(
  trx: Trx,
  auth: SessionAuth,
  now: Date,
): Promise<SessionAuth> {
  const { session, ...current } = await reauthorize(trx, auth, now)
  if (!session) throw sessionNotFound()
  return { ...current, session }
}
