/** The look-ups that most requests make, a statement for all that wait. */
import type { Db, Trx } from '../../db/database.ts'
import { findSessionById, findSessionsById } from '../../db/session-look-ups.ts'
import type { SessionRecord } from '../../db/sessions.ts'
import { findUser, findUsers, type UserRecord } from '../../db/users.ts'
import { isOfOneStatement } from '../db/error-scope.ts'
import { shareStatement } from './shared-statement.ts'

export interface LookUps {
  /** A session with its person, by UUID; undefined when there is none, or when it is another person's. */
  session(sessionId: string, userId: string): Promise<SessionRecord | undefined>
  /** A person, by UUID. */
  person(id: string): Promise<UserRecord | undefined>
}

/** No request takes longer than `longestMs`. */
export function createLookUps(db: Db, longestMs: number): LookUps {
  const findSession = shareStatement<SessionRecord>({
    find: (ids) => findSessionsById(db, ids),
    idOf: ({ session_id }) => session_id,
    isOfOneRow: isOfOneStatement,
    longestMs,
  })
  const findPerson = shareStatement<UserRecord>({
    find: (ids) => findUsers(db, ids),
    idOf: ({ id }) => id,
    isOfOneRow: isOfOneStatement,
    longestMs,
  })
  return {
    session: async (sessionId, userId) => ifOf(userId, await findSession(sessionId.toLowerCase())),
    person: (id) => findPerson(id.toLowerCase()),
  }
}

/** The same inside a transaction, of what it has locked; statements are shared with nobody there. */
export function lookUpsIn(trx: Trx): LookUps {
  return {
    session: async (sessionId, userId) => ifOf(userId, await findSessionById(trx, sessionId)),
    person: (id) => findUser(trx, id),
  }
}

function ifOf(userId: string, session: SessionRecord | undefined): SessionRecord | undefined {
  return session?.id === userId.toLowerCase() ? session : undefined
}
