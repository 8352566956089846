/** Where a person is signed in. */
import type { Db } from '../../../db/database.ts'
import { findSessions, type SessionRow } from '../../../db/session-list.ts'
import type { House } from '../../define-plugin.ts'

/** The person's sessions that can still be refreshed, last used first. */
export async function listSessions(
  { bearerAuth }: House<'bearerAuth'>,
  db: Db,
  userId: string,
  now: Date,
): Promise<SessionRow[]> {
  const { sessionPolicy: policy } = bearerAuth
  const kind = { tags: policy.tags, openedAfter: policy.openedAfter(now), now }
  const sessions = await findSessions(db, userId, policy.singlePerUser ? kind : undefined)
  return sessions.filter((session) => policy.expiredBy(session, now) === undefined)
}
