/** What a refresh does to a session, in one statement for the ordinary case. */
import { type ExpressionBuilder, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db } from './database.ts'
import { impersonatorOf } from './impersonations.ts'
import { lastUsed, newerSession } from './newer-session.ts'
import { preparedRow, preparedWrite, type ValueOf } from './prepared-statement.ts'
import { amrClaims, sessionColumns, type TokenSession } from './sessions.ts'
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
  /** Sessions opened at or before this that owe a second factor have reached AUTH_SESSIONS_ALLOW_LOW_AAL. */
  owedAfter: Date | null
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
): Promise<TokenSession | undefined> {
  return advanceStatement(db, { ...refresh, now })
}

type RefreshValues = Refresh & { now: Date }

const advanceStatement = preparedRow((db, value: ValueOf<RefreshValues>) =>
  db
    .with('advanced', (eb) =>
      eb
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
              sql`${value('now')}::timestamptz`.as('created_at'),
              sql`coalesce(${value('ip')}::text, '')`.as('ip_address'),
            ])
            .where(sql<boolean>`${value('audited')}::boolean`),
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
    ])
    .select((eb) => [
      jsonArrayFrom(
        amrClaims(eb).where(sql<boolean>`mfa_amr_claims.session_id = advanced.session_id`),
      ).as('amr'),
      impersonatorOf(eb, sql<string>`advanced.session_id`).as('impersonated_by'),
    ]),
)

function isRefreshable(eb: ExpressionBuilder<Database, 'sessions'>, value: ValueOf<RefreshValues>) {
  const now = value('now')
  return eb.and([
    sql<boolean>`coalesce(sessions.not_after > ${now}, true)`,
    sql<boolean>`coalesce(sessions.created_at > ${value('openedAfter')}::timestamptz, true)`,
    sql<boolean>`coalesce(${lastUsed} > ${value('usedAfter')}::timestamptz, true)`,
    eb.or([
      sql<boolean>`coalesce(sessions.created_at > ${value('owedAfter')}::timestamptz, true)`,
      sql<boolean>`coalesce(sessions.aal, 'aal1') > 'aal1'`,
      eb.not(eb.exists(verifiedFactor(eb))),
    ]),
    eb.or([
      sql<boolean>`not ${value('singlePerUser')}::boolean`,
      eb.not(eb.exists(newerSession(eb, value))),
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

function verifiedFactor(eb: ExpressionBuilder<Database, 'sessions'>) {
  return eb
    .selectFrom('mfa_factors')
    .select('mfa_factors.id')
    .whereRef('mfa_factors.user_id', '=', 'sessions.user_id')
    .where('mfa_factors.status', '=', 'verified')
}

const refreshPayload = sql`json_build_object('actor_id', users.id, 'actor_via_sso', users.is_sso_user,
  'actor_username', coalesce(nullif(users.phone, ''), users.email, ''), 'action', 'token_refreshed', 'log_type', 'token')`

type Advanced = Pick<TokenSession, 'session_id' | 'refresh_token_counter'>

const stepBack = preparedWrite((db, value: ValueOf<Advanced>) =>
  db
    .updateTable('sessions')
    .set({ refresh_token_counter: sql`refresh_token_counter - 1` })
    .where('id', '=', value('session_id'))
    .where('refresh_token_counter', '=', value('refresh_token_counter'))
    .where('refresh_token_counter', '>', sql.lit(0)),
)

/** The counter is as it was before `advanceSession`, unless another refresh has gone on from there. */
export async function takeBackAdvance(db: Db, advanced: Advanced): Promise<void> {
  const { session_id, refresh_token_counter } = advanced
  await stepBack(db, { session_id, refresh_token_counter })
}

const sealStatement = preparedWrite(
  (db, value: ValueOf<{ sessionId: string; plain: string; sealed: string }>) =>
    db
      .updateTable('sessions')
      .set({ refresh_token_hmac_key: value('sealed') })
      .where('id', '=', value('sessionId'))
      .where('refresh_token_hmac_key', '=', value('plain')),
)

/** Encrypts a refresh-token key that was found in clear; another request may have done so already. */
export async function sealRefreshTokenKey(
  db: Db,
  sessionId: string,
  plain: string,
  sealed: string,
) {
  await sealStatement(db, { sessionId, plain, sealed })
}
