/** What a refresh does to a session, in one statement for the ordinary case. */
import { type ExpressionBuilder, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db } from './database.ts'
import { lastUsed, newerSession } from './newer-session.ts'
import { type Places, prepareStatement } from './prepared-statement.ts'
import { amrClaims, type SessionRecord, sessionColumns } from './sessions.ts'
import { userColumns } from './user-columns.ts'
import { nilUuid, userRelations } from './users.ts'

export interface Refresh {
  sessionId: string
  /** The counter that the presented token carries; the row must still hold it. */
  counter: number
  userAgent: string | null
  ip: string | null
  /** Sessions opened at or before this have reached AUTH_SESSIONS_TIMEBOX. */
  openedAfter: Date | null
  /** Sessions last used at or before this have reached AUTH_SESSIONS_INACTIVITY_TIMEOUT. */
  usedAfter: Date | null
  /** Refuse when another session of the same kind was used later (AUTH_SESSIONS_SINGLE_PER_USER). */
  singlePerUser: boolean
  /** The kinds of sessions that count apart; a session of none of them counts as the first. */
  tags: readonly string[]
  /** Write the audit entry in the same statement. */
  audited: boolean
}

/**
 * Advances the counter and returns the session with its person in one statement,
 * or returns undefined when any condition fails; the caller then finds out which.
 */
export function advanceSession(
  db: Db,
  refresh: Refresh,
  now: Date,
): Promise<SessionRecord | undefined> {
  return advanceStatement(db, { ...refresh, now })
}

type RefreshValues = Refresh & { now: Date }

const advanceStatement = prepareStatement<RefreshValues, SessionRecord>(
  [
    'sessionId',
    'counter',
    'userAgent',
    'ip',
    'openedAfter',
    'usedAfter',
    'singlePerUser',
    'tags',
    'audited',
    'now',
  ],
  (db, places) =>
    db
      .with('advanced', (eb) =>
        eb
          .updateTable('sessions')
          .set({
            refresh_token_counter: sql`sessions.refresh_token_counter + 1`,
            refreshed_at: sql`${places.now}::timestamptz at time zone 'utc'`,
            updated_at: places.now,
            user_agent: places.userAgent,
            ip: places.ip,
          })
          .where('sessions.id', '=', places.sessionId)
          .where('sessions.refresh_token_counter', '=', places.counter)
          .where((where) => isRefreshable(where, places))
          .returning([...sessionColumns, 'sessions.user_id as session_user_id']),
      )
      .with('audited', (eb) =>
        eb
          .insertInto('audit_log_entries')
          .columns(['instance_id', 'id', 'payload', 'created_at', 'ip_address'])
          .expression((select) =>
            select
              .selectFrom('users')
              .innerJoin('advanced', 'advanced.session_user_id', 'users.id')
              .select([
                sql`${sql.lit(nilUuid)}::uuid`.as('instance_id'),
                sql`gen_random_uuid()`.as('id'),
                refreshPayload.as('payload'),
                sql`${places.now}::timestamptz`.as('created_at'),
                sql`coalesce(${places.ip}::text, '')`.as('ip_address'),
              ])
              .where(sql<boolean>`${places.audited}::boolean`),
          ),
      )
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
        'advanced.refresh_token_hmac_key',
        'advanced.refresh_token_counter',
        'advanced.postern_impersonated_by',
      ])
      .select((eb) =>
        jsonArrayFrom(
          amrClaims(eb).where(sql<boolean>`mfa_amr_claims.session_id = advanced.session_id`),
        ).as('amr'),
      ),
)

function isRefreshable(eb: ExpressionBuilder<Database, 'sessions'>, places: Places<RefreshValues>) {
  const { now, openedAfter, usedAfter, singlePerUser } = places
  return eb.and([
    sql<boolean>`coalesce(sessions.not_after > ${now}, true)`,
    sql<boolean>`coalesce(sessions.created_at > ${openedAfter}::timestamptz, true)`,
    sql<boolean>`coalesce(${lastUsed} > ${usedAfter}::timestamptz, true)`,
    eb.or([
      sql<boolean>`not ${singlePerUser}::boolean`,
      eb.not(eb.exists(newerSession(eb, places))),
    ]),
    eb.exists(
      eb
        .selectFrom('users')
        .select('users.id')
        .whereRef('users.id', '=', 'sessions.user_id')
        .where('users.deleted_at', 'is', null)
        .where(sql<boolean>`coalesce(users.banned_until <= ${now}, true)`),
    ),
  ])
}

const refreshPayload = sql`json_build_object('actor_id', users.id, 'actor_via_sso', users.is_sso_user,
  'actor_username', coalesce(nullif(users.phone, ''), users.email, ''), 'action', 'token_refreshed', 'log_type', 'token')`

/** Encrypts a refresh-token key that was found in clear; another request may have done so already. */
export async function sealRefreshTokenKey(
  db: Db,
  sessionId: string,
  plain: string,
  sealed: string,
) {
  await db
    .updateTable('sessions')
    .set({ refresh_token_hmac_key: sealed })
    .where('id', '=', sessionId)
    .where('refresh_token_hmac_key', '=', plain)
    .execute()
}
