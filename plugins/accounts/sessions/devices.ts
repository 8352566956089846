/** Where a person is signed in. */
import type { Db } from '../../../db/database.ts'
import { findSessions, type SessionRow } from '../../../db/sessions.ts'

import type { SessionPolicy } from '../../session-policy.ts'

/** The person's sessions that can still be refreshed, last used first. */
export async function liveSessions(
  db: Db,
  userId: string,
  policy: SessionPolicy,
  now: Date,
): Promise<SessionRow[]> {
  const sessions = await findSessions(db, userId)
  return sessions.filter((session) => policy.expiredBy(session, now) === undefined)
}
