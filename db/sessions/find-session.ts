/** Sessions with their users. */
import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Db } from '../core/database.ts'
import { requestedId, selectEachId } from '../core/requested-ids.ts'
import { type ParamOf, queryMany, queryOne } from '../core/statement.ts'
import { activeOrganization, type OrganizationScope } from '../organizations/active.ts'
import { userColumns } from '../tables/user-columns.ts'
import { userRelations } from '../users/users.ts'
import { selectImpersonator } from './impersonations.ts'
import { amrClaims, type SessionRecord, sessionColumns, type TokenSession } from './sessions.ts'

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

const findEach = queryMany((db, value: ParamOf<{ ids: readonly string[] }>) =>
  selectEachId(db, value('ids'))
    .innerJoinLateral(
      selectSession(db).where('sessions.id', '=', requestedId).limit(sql.lit(1)).as('found'),
      (join) => join.onTrue(),
    )
    .selectAll('found'),
)

/** Returns sessions with their users in one statement, for every authenticated request. */
export function findSessionsById(db: Db, ids: readonly string[]): Promise<SessionRecord[]> {
  return findEach(db, { ids })
}

const findById = queryOne((db, value: ParamOf<{ sessionId: string }>) =>
  selectSession(db)
    .select((eb) => selectImpersonator(eb, sql<string>`sessions.id`).as('impersonated_by'))
    .where('sessions.id', '=', value('sessionId')),
)

const findInScope = queryOne(
  (db, value: ParamOf<{ sessionId: string; organizationId: string | null }>) =>
    selectSession(db)
      .select((eb) => [
        selectImpersonator(eb, sql<string>`sessions.id`).as('impersonated_by'),
        activeOrganization(eb, {
          sessionId: sql.ref('sessions.id'),
          userId: sql.ref('users.id'),
          organizationId: value('organizationId'),
        }).as('organization'),
      ])
      .where('sessions.id', '=', value('sessionId')),
)

/** Returns the session that a refresh token names, with its user, and with the organization of a scope. */
export function findSessionById(
  db: Db,
  sessionId: string,
  scope?: OrganizationScope,
): Promise<TokenSession | undefined> {
  return scope ? findInScope(db, { sessionId, ...scope }) : findById(db, { sessionId })
}
