/**
 * Rotates the refresh token of a session, in one statement for the ordinary case, and changes the session's token state
 * outside of a refresh.
 */
import { type Expression, type QueryCreator, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db } from '../core/database.ts'
import {
  executeStatement,
  type ParamOf,
  queryOneBatched,
  queryVariants,
} from '../core/statement.ts'
import { activeOrganization } from '../organizations/active.ts'
import { nilUuid, userColumns } from '../tables/users.ts'
import { userRelations } from '../users/users.ts'
import { selectImpersonator } from './impersonations.ts'
import {
  hasRequiredFactor,
  isMemberOfRequested,
  isRefreshable,
  listRefreshParts,
  type Refresh,
  type RefreshPart,
  type RefreshValues,
  supersedingSession,
} from './refreshable.ts'
import { amrClaims, type SessionState, sessionColumns, type TokenSession } from './sessions.ts'

/**
 * Increments the counter and returns the session with its user in one statement. Returns undefined when a condition
 * fails; the caller then determines which.
 */
export function rotateCounterToken(
  db: Db,
  refresh: Refresh,
  now: Date,
): Promise<TokenSession | undefined> {
  const organizationId = refresh.scope?.organizationId ?? null
  return rotate(listRefreshParts(refresh))(db, { ...refresh, organizationId, now })
}

const rotate = queryVariants((parts: readonly RefreshPart[]) =>
  queryOneBatched((db, value: ParamOf<RefreshValues>) =>
    selectAdvanced(
      db
        .with('advanced', (eb) => advance(eb, value, parts))
        .with('audited', (eb) => refreshAudit(eb, value)),
    ).$if(parts.includes('organization'), (qb) =>
      qb.select((eb) =>
        activeOrganization(eb, {
          sessionId: sql.ref('advanced.session_id'),
          userId: sql.ref('users.id'),
          organizationId: value('organizationId'),
        }).as('organization'),
      ),
    ),
  ),
)

type Advancing = QueryCreator<
  Database & { advanced: Omit<SessionState, 'amr'> & { session_user_id: string } }
>

function advance(
  db: QueryCreator<Database>,
  value: ParamOf<RefreshValues>,
  parts: readonly RefreshPart[],
) {
  return db
    .updateTable('sessions')
    .set({
      refresh_token_counter: sql`sessions.refresh_token_counter + 1`,
      refreshed_at: sql`${value('now')}::timestamptz at time zone 'utc'`,
      updated_at: value('now'),
      user_agent: value('userAgent'),
      ip: value('ip'),
    })
    .where('sessions.id', '=', value('sessionId'))
    .where('sessions.refresh_token_counter', '=', value('counter'))
    .where((where) => isRefreshable(where, value))
    .$if(parts.includes('required_factor'), (qb) =>
      qb.where((where) => hasRequiredFactor(where, value)),
    )
    .$if(parts.includes('single_per_user'), (qb) =>
      qb.where((where) => where.not(where.exists(supersedingSession(where, value)))),
    )
    .$if(parts.includes('organization'), (qb) =>
      qb.where((where) => isMemberOfRequested(where, value)),
    )
    .returning([...sessionColumns, 'sessions.user_id as session_user_id'])
}

function selectAdvanced(db: Advancing) {
  return db
    .selectFrom('users')
    .innerJoin('advanced', 'advanced.session_user_id', 'users.id')
    .select(userColumns)
    .select(userRelations)
    .select([
      'advanced.session_id',
      'advanced.session_created_at',
      'advanced.refreshed_at',
      'advanced.not_after',
      'advanced.aal',
      'advanced.tag',
      'advanced.oauth_client_id',
      'advanced.scopes',
      'advanced.refresh_token_hmac_key',
      'advanced.refresh_token_counter',
    ])
    .select((eb) => [
      jsonArrayFrom(
        amrClaims(eb).where(sql<boolean>`mfa_amr_claims.session_id = advanced.session_id`),
      ).as('amr'),
      selectImpersonator(eb, sql<string>`advanced.session_id`).as('impersonated_by'),
    ])
}

function refreshAudit(db: Advancing, value: ParamOf<RefreshValues>) {
  return db
    .insertInto('audit_log_entries')
    .columns(['instance_id', 'id', 'payload', 'created_at', 'ip_address'])
    .expression((select) =>
      select
        .selectFrom('users')
        .innerJoin('advanced', 'advanced.session_user_id', 'users.id')
        .select([
          sql`${sql.lit(nilUuid)}::uuid`.as('instance_id'),
          sql`gen_random_uuid()`.as('id'),
          refreshPayload(selectImpersonator(select, sql<string>`advanced.session_id`)).as(
            'payload',
          ),
          sql`${value('now')}::timestamptz`.as('created_at'),
          sql`coalesce(${value('ip')}::text, '')`.as('ip_address'),
        ])
        .where(sql<boolean>`${value('audited')}::boolean`),
    )
}

/** As modules/audit/entry.ts builds it. */
const refreshPayload = (impersonator: Expression<unknown>) =>
  sql`json_strip_nulls(json_build_object('actor_id', users.id, 'actor_via_sso', users.is_sso_user,
  'actor_username', coalesce(nullif(users.phone, ''), users.email, ''), 'action', 'token_refreshed', 'log_type', 'token',
  'actor', json_build_object('type', 'user', 'id', users.id),
  'act', (select json_build_object('sub', found.by) from (${impersonator}) found (by))))`

type Advanced = Pick<TokenSession, 'session_id' | 'refresh_token_counter'>

const stepBack = executeStatement((db, value: ParamOf<Advanced>) =>
  db
    .updateTable('sessions')
    .set({ refresh_token_counter: sql`refresh_token_counter - 1` })
    .where('id', '=', value('session_id'))
    .where('refresh_token_counter', '=', value('refresh_token_counter'))
    .where('refresh_token_counter', '>', sql.lit(0)),
)

/** Reverts `rotateCounterToken`, unless another refresh has happened since. */
export async function undoRotation(db: Db, advanced: Advanced): Promise<void> {
  const { session_id, refresh_token_counter } = advanced
  await stepBack(db, { session_id, refresh_token_counter })
}

const sealStatement = executeStatement(
  (db, value: ParamOf<{ sessionId: string; plain: string; sealed: string }>) =>
    db
      .updateTable('sessions')
      .set({ refresh_token_hmac_key: value('sealed') })
      .where('id', '=', value('sessionId'))
      .where('refresh_token_hmac_key', '=', value('plain')),
)

/** Stores an encrypted refresh token key if the column still has the plain one. */
export async function storeEncryptedRefreshKey(
  db: Db,
  sessionId: string,
  plain: string,
  sealed: string,
) {
  await sealStatement(db, { sessionId, plain, sealed })
}
