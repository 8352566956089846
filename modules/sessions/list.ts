/** Lists the sessions of a user. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import { findSessions, type SessionRow } from '../../db/sessions/sessions.ts'

/** The user's sessions that can be refreshed, last used first. */
export async function listSessions(
  { bearerAuth }: FastifyInstance,
  db: Db,
  userId: string,
  now: Date,
): Promise<SessionRow[]> {
  const { sessionPolicy: policy } = bearerAuth
  const kind = { tags: policy.tags, openedAfter: policy.openedAfter(now), now }
  const sessions = await findSessions(db, userId, policy.singlePerUser ? kind : undefined)
  return sessions.filter((session) => policy.expiredBy(session, now) === undefined)
}
