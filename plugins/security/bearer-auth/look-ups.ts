/** The lookups of most requests, batched across concurrent requests. */
import type { Db, Trx } from '../../../db/core/database.ts'
import {
  findSessionById,
  findSessionsById,
  type SessionRecord,
} from '../../../db/sessions/sessions.ts'
import { findUser, findUsers, type UserRecord } from '../../../db/users/users.ts'
import { batchLookup, isOfOneStatement } from '../../database/driver/index.ts'

export interface LookUps {
  /** A session with its user, by UUID; undefined when there is none, or when it belongs to another user. */
  session(sessionId: string, userId: string): Promise<SessionRecord | undefined>
  /** A user, by UUID. */
  user(id: string): Promise<UserRecord | undefined>
}

/** No request takes longer than `maxDurationMs`. */
export function createLookUps(db: Db, maxDurationMs: number): LookUps {
  const findSession = batchLookup<SessionRecord>({
    find: (ids) => findSessionsById(db, ids),
    getId: ({ session_id }) => session_id,
    isRowError: isOfOneStatement,
    maxDurationMs,
  })
  const findUserById = batchLookup<UserRecord>({
    find: (ids) => findUsers(db, ids),
    getId: ({ id }) => id,
    isRowError: isOfOneStatement,
    maxDurationMs,
  })
  return {
    session: async (sessionId, userId) =>
      ifIdMatches(userId, await findSession(sessionId.toLowerCase())),
    user: (id) => findUserById(id.toLowerCase()),
  }
}

/** The same lookups inside a transaction, for locked rows; they are not batched. */
export function lookUpsIn(trx: Trx): LookUps {
  return {
    session: async (sessionId, userId) =>
      ifIdMatches(userId, await findSessionById(trx, sessionId)),
    user: (id) => findUser(trx, id),
  }
}

function ifIdMatches(
  userId: string,
  session: SessionRecord | undefined,
): SessionRecord | undefined {
  return session?.id === userId.toLowerCase() ? session : undefined
}
