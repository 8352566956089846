/** What a refresh does to a session, in one statement for the ordinary case. */
import {
  type Expression,
  type ExpressionBuilder,
  type QueryCreator,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Database, Db } from './database.ts'
import { impersonatorOf } from './impersonations.ts'
import { lastUsed, newerSession } from './newer-session.ts'
import { preparedFor, preparedSharedRow, type ValueOf } from './prepared-statement.ts'
import { amrClaims, type SessionState, sessionColumns, type TokenSession } from './sessions.ts'
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
  return advanceStatement(rulesOf(refresh))(db, { ...refresh, now })
}

type RefreshValues = Refresh & { now: Date }

/** What makes the statements differ: Postgres makes ready for every condition, also for one that is switched off. */
type Rule = 'timebox' | 'inactivity' | 'owed factor' | 'single per user' | 'audited'

function rulesOf(refresh: Refresh): Rule[] {
  return [
    ...(refresh.openedAfter ? ['timebox' as const] : []),
    ...(refresh.usedAfter ? ['inactivity' as const] : []),
    ...(refresh.owedAfter ? ['owed factor' as const] : []),
    ...(refresh.singlePerUser ? ['single per user' as const] : []),
    ...(refresh.audited ? ['audited' as const] : []),
  ]
}

const advanceStatement = preparedFor((rules: readonly Rule[]) =>
  preparedSharedRow((db, value: ValueOf<RefreshValues>) => {
    const advancing = db.with('advanced', (eb) => advance(eb, value, rules))
    if (!rules.includes('audited')) return selectAdvanced(advancing)
    return selectAdvanced(advancing.with('audited', (eb) => refreshAudit(eb, value)))
  }),
)

type Advancing = QueryCreator<
  Database & { advanced: Omit<SessionState, 'amr'> & { session_user_id: string } }
>

function advance(
  db: QueryCreator<Database>,
  value: ValueOf<RefreshValues>,
  rules: readonly Rule[],
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
    .where((where) => isRefreshable(where, value, rules))
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
      'advanced.refresh_token_hmac_key',
      'advanced.refresh_token_counter',
    ])
    .select((eb) => [
      jsonArrayFrom(
        amrClaims(eb).where(sql<boolean>`mfa_amr_claims.session_id = advanced.session_id`),
      ).as('amr'),
      impersonatorOf(eb, sql<string>`advanced.session_id`).as('impersonated_by'),
    ])
}

function refreshAudit(db: Advancing, value: ValueOf<RefreshValues>) {
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
          refreshPayload.as('payload'),
          sql`${value('now')}::timestamptz`.as('created_at'),
          sql`coalesce(${value('ip')}::text, '')`.as('ip_address'),
        ]),
    )
}

function isRefreshable(
  eb: ExpressionBuilder<Database, 'sessions'>,
  value: ValueOf<RefreshValues>,
  rules: readonly Rule[],
) {
  const now = value('now')
  const conditions: Record<Exclude<Rule, 'audited'>, () => Expression<SqlBool>> = {
    timebox: () => sql`coalesce(sessions.created_at > ${value('openedAfter')}::timestamptz, true)`,
    inactivity: () => sql`coalesce(${lastUsed} > ${value('usedAfter')}::timestamptz, true)`,
    'owed factor': () =>
      eb.or([
        sql<boolean>`coalesce(sessions.created_at > ${value('owedAfter')}::timestamptz, true)`,
        sql<boolean>`coalesce(sessions.aal, 'aal1') > 'aal1'`,
        eb.not(eb.exists(verifiedFactor(eb))),
      ]),
    'single per user': () => eb.not(eb.exists(newerSession(eb, value))),
  }
  return eb.and([
    sql<boolean>`sessions.oauth_client_id is null`,
    sql<boolean>`coalesce(sessions.not_after > ${now}, true)`,
    ...rules.flatMap((rule) => (rule === 'audited' ? [] : [conditions[rule]()])),
    mayReturn(eb, now),
  ])
}

/** A value and no `exists`: that would be planned as a join, which reads all people while there are few, and is kept. */
function mayReturn(eb: ExpressionBuilder<Database, 'sessions'>, now: RawBuilder<Date>) {
  const isLive = sql<boolean>`users.deleted_at is null and coalesce(users.banned_until <= ${now}, true)`
  const owner = eb.selectFrom('users').whereRef('users.id', '=', 'sessions.user_id')
  return sql<boolean>`coalesce(${owner.select(isLive.as('is_live'))}, false)`
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
