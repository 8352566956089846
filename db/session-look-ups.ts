/** Sessions together with the people they belong to. */
import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Db } from './database.ts'
import { impersonatorOf } from './impersonations.ts'
import { preparedRow, preparedRows, type ValueOf } from './prepared-statement.ts'
import { amrClaims, type SessionRecord, sessionColumns, type TokenSession } from './sessions.ts'
import { userColumns } from './user-columns.ts'
import { userRelations } from './users.ts'
import { eachOf, wantedId } from './wanted-ids.ts'

const selectSession = (db: Db) =>
  db
    .selectFrom('users')
    .innerJoin('sessions', 'sessions.user_id', 'users.id')
    .select(userColumns)
    .select(userRelations)
    .select(sessionColumns)
    .select((eb) =>
      jsonArrayFrom(amrClaims(eb).whereRef('mfa_amr_claims.session_id', '=', 'sessions.id')).as(
        'amr',
      ),
    )

const findEach = preparedRows((db, value: ValueOf<{ ids: readonly string[] }>) =>
  eachOf(db, value('ids'))
    .innerJoinLateral(
      selectSession(db).where('sessions.id', '=', wantedId).limit(sql.lit(1)).as('found'),
      (join) => join.onTrue(),
    )
    .selectAll('found'),
)

/** Sessions with their people in one statement: what GET /user and every bearer check read. */
export function findSessionsById(db: Db, ids: readonly string[]): Promise<SessionRecord[]> {
  return findEach(db, { ids })
}

const findById = preparedRow((db, value: ValueOf<{ sessionId: string }>) =>
  selectSession(db)
    .select((eb) => impersonatorOf(eb, sql<string>`sessions.id`).as('impersonated_by'))
    .where('sessions.id', '=', value('sessionId')),
)

/** The session a refresh token names, with its person. */
export function findSessionById(db: Db, sessionId: string): Promise<TokenSession | undefined> {
  return findById(db, { sessionId })
}
