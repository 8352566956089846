/** Sessions: read with or without their users, listed and deleted. */
import { type ExpressionBuilder, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db, Trx } from '../core/database.ts'
import { requestedId, selectEachId } from '../core/requested-ids.ts'
import { type ParamOf, queryMany, queryOne } from '../core/statement.ts'
import {
  type ActiveOrganization,
  activeOrganization,
  type OrganizationScope,
} from '../organizations/active.ts'
import type { AmrClaim, FactorJson } from '../tables/factors.ts'
import type { Aal, Impersonation, SessionsTable } from '../tables/sessions.ts'
import { userColumns } from '../tables/users.ts'
import { type UserRecord, userRelations } from '../users/users.ts'
import { selectImpersonator } from './impersonations.ts'
import { type KindAt, supersedingSession } from './refreshable.ts'

export const sessionColumns = [
  'sessions.id as session_id',
  'sessions.created_at as session_created_at',
  'sessions.refreshed_at',
  'sessions.not_after',
  'sessions.aal',
  'sessions.tag',
  'sessions.oauth_client_id',
  'sessions.scopes',
  'sessions.refresh_token_hmac_key',
  'sessions.refresh_token_counter',
] as const

export interface SessionState {
  session_id: string
  session_created_at: Date | null
  refreshed_at: Date | null
  not_after: Date | null
  aal: Aal | null
  tag: string | null
  oauth_client_id: string | null
  scopes: string | null
  /** Encrypted (plugins/security/encryption/index.ts), or plain in a database that GoTrue created. */
  refresh_token_hmac_key: string | null
  refresh_token_counter: number | null
  amr: AmrClaim[]
}

/** A session with its user. */
export type SessionRecord = UserRecord & SessionState

/** A session with all that its access token needs. */
export type TokenSession = SessionRecord &
  Impersonation & {
    /** Absent while organizations are off. */
    organization?: ActiveOrganization | null
  }

/** The authentication methods of a session, newest first (`amr`, RFC 8176). */
export const amrClaims = (eb: Pick<ExpressionBuilder<Database, 'sessions'>, 'selectFrom'>) =>
  eb
    .selectFrom('mfa_amr_claims')
    .select([
      'mfa_amr_claims.authentication_method as method',
      sql<number>`floor(extract(epoch from mfa_amr_claims.updated_at))::bigint`.as('timestamp'),
    ])
    .orderBy('mfa_amr_claims.updated_at', 'desc')

/** Locks a session of the user against deletion until the transaction ends. Returns false when it has ended. */
export async function lockSessionShared(
  trx: Trx,
  userId: string,
  sessionId: string,
): Promise<boolean> {
  const row = await trx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes one session of a user. Returns false when there is none. */
export async function deleteSession(db: Db, userId: string, sessionId: string): Promise<boolean> {
  const result = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '=', sessionId)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** Deletes the sessions of a user except `except`. Returns their ids. */
export async function deleteSessions(db: Db, userId: string, except?: string): Promise<string[]> {
  const rows = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .$if(except !== undefined, (qb) => qb.where('id', '<>', except ?? ''))
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

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

const deviceColumns = [
  'sessions.id as session_id',
  'sessions.created_at as session_created_at',
  'sessions.refreshed_at',
  'sessions.not_after',
  'sessions.aal',
  'sessions.user_agent',
  'sessions.ip',
  'sessions.oauth_client_id',
] as const

export type SessionRow = Pick<
  SessionState,
  'session_id' | 'session_created_at' | 'refreshed_at' | 'not_after' | 'aal' | 'oauth_client_id'
> &
  Pick<SessionsTable, 'user_agent' | 'ip'> &
  Impersonation & { factors: Pick<FactorJson, 'status'>[] }

/**
 * Returns the sessions of a user, last used first, at most a thousand. With `kind`, superseded sessions are left out.
 */
export function findSessions(
  db: Db,
  userId: string,
  kind: KindAt | undefined,
): Promise<SessionRow[]> {
  const all = db
    .selectFrom('sessions')
    .select(deviceColumns)
    .select((eb) => selectImpersonator(eb, sql<string>`sessions.id`).as('impersonated_by'))
    .select((eb) =>
      jsonArrayFrom(
        eb
          .selectFrom('mfa_factors')
          .select('mfa_factors.status')
          .whereRef('mfa_factors.user_id', '=', 'sessions.user_id'),
      ).as('factors'),
    )
    .where('user_id', '=', userId)
    .orderBy(sql`coalesce(refreshed_at at time zone 'utc', created_at)`, 'desc')
    .orderBy('id')
    .limit(1000)
  return (kind ? all.where((eb) => isCurrent(eb, kind)) : all).execute()
}

/** The last used session of its kind, or an impersonated one, which is listed until it ends. */
function isCurrent(eb: ExpressionBuilder<Database, 'sessions'>, kind: KindAt) {
  return eb.or([
    eb.exists(selectImpersonator(eb, sql<string>`sessions.id`)),
    eb('sessions.oauth_client_id', 'is not', null),
    eb.not(eb.exists(supersedingSession(eb, (name) => sql`${kind[name]}`))),
  ])
}
