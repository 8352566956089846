/** Where a person is signed in. */
import type { Db } from '../../../db/database.ts'
import { findSessions, type SessionRow } from '../../../db/session-list.ts'
import type { House } from '../../define-plugin.ts'

/** The person's sessions that can still be refreshed, last used first. */
export async function listSessions(
  { sessionPolicy }: House<'sessionPolicy'>,
  db: Db,
  userId: string,
  now: Date,
): Promise<SessionRow[]> {
  const sessions = await findSessions(db, userId)
  return sessions.filter((session) => sessionPolicy.expiredBy(session, now) === undefined)
}
