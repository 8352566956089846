import { type ExpressionBuilder, type Generated, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import { type AuditEntry, auditInsert } from './audit-log-entries.ts'
import type { Database, Db } from './database.ts'
import type { AmrClaim } from './mfa.ts'
import { type Places, prepareStatement } from './prepared-statement.ts'
import { nilUuid, type UserRecord, userColumns, userRelations } from './users.ts'

export type Aal = 'aal1' | 'aal2' | 'aal3'

export interface SessionsTable {
  id: string
  user_id: string
  created_at: Date | null
  updated_at: Date | null
  factor_id: string | null
  aal: Aal | null
  not_after: Date | null
  /** Without a time zone in the database; UTC by convention. */
  refreshed_at: Date | null
  user_agent: string | null
  ip: string | null
  tag: string | null
  refresh_token_hmac_key: string | null
  refresh_token_counter: Generated<number | null>
}

const sessionColumns = [
  'sessions.id as session_id',
  'sessions.created_at as session_created_at',
  'sessions.refreshed_at',
  'sessions.not_after',
  'sessions.aal',
  'sessions.tag',
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
  /** Encrypted (plugins/encryption.ts), or plain in a database taken over from a peer. */
  refresh_token_hmac_key: string | null
  refresh_token_counter: number | null
  amr: AmrClaim[]
}

/** A session together with the person it belongs to. */
export type SessionRecord = UserRecord & SessionState

export interface NewSession {
  id: string
  user_id: string
  aal: Aal
  tag: string | null
  user_agent: string | null
  ip: string | null
  not_after: Date | null
  refresh_token_hmac_key: string
}

/** One statement: the session, how it was opened, the person's last sign-in and the audit entry. */
export async function insertSession(
  db: Db,
  session: NewSession,
  method: string,
  audit: AuditEntry | undefined,
  now: Date,
): Promise<void> {
  await db
    .with('opened', (eb) =>
      eb
        .insertInto('sessions')
        .values({ ...session, created_at: now, updated_at: now, refresh_token_counter: 0 }),
    )
    .with('amr', (eb) =>
      eb.insertInto('mfa_amr_claims').values({
        id: sql`gen_random_uuid()`,
        session_id: session.id,
        authentication_method: method,
        created_at: now,
        updated_at: now,
      }),
    )
    .with('audited', (eb) => auditInsert(eb, audit, now))
    .updateTable('users')
    .set({ last_sign_in_at: now, updated_at: now })
    .where('id', '=', session.user_id)
    .execute()
}

/** How a session was opened, newest first (RFC 8176 calls it amr). */
const amrClaims = (eb: Pick<ExpressionBuilder<Database, 'sessions'>, 'selectFrom'>) =>
  eb
    .selectFrom('mfa_amr_claims')
    .select([
      'mfa_amr_claims.authentication_method as method',
      sql<number>`extract(epoch from mfa_amr_claims.updated_at)::bigint`.as('timestamp'),
    ])
    .orderBy('mfa_amr_claims.updated_at', 'desc')

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

const findStatement = prepareStatement<{ sessionId: string; userId: string }, SessionRecord>(
  ['sessionId', 'userId'],
  (db, { sessionId, userId }) =>
    selectSession(db).where('sessions.id', '=', sessionId).where('users.id', '=', userId),
)

/** The session and its person in one statement: what GET /user and every bearer check read. */
export function findSession(
  db: Db,
  sessionId: string,
  userId: string,
): Promise<SessionRecord | undefined> {
  return findStatement(db, { sessionId, userId })
}

/** The session a refresh token names, with its person. */
export function findSessionById(db: Db, sessionId: string): Promise<SessionRecord | undefined> {
  return selectSession(db).where('sessions.id', '=', sessionId).executeTakeFirst()
}

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
  /** Refuse when another session of the same tag was used later (AUTH_SESSIONS_SINGLE_PER_USER). */
  singlePerUser: boolean
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
      ])
      .select((eb) =>
        jsonArrayFrom(
          amrClaims(eb).where(sql<boolean>`mfa_amr_claims.session_id = advanced.session_id`),
        ).as('amr'),
      ),
)

function isRefreshable(
  eb: ExpressionBuilder<Database, 'sessions'>,
  { now, openedAfter, usedAfter, singlePerUser }: Places<RefreshValues>,
) {
  return eb.and([
    sql<boolean>`coalesce(sessions.not_after > ${now}, true)`,
    sql<boolean>`coalesce(sessions.created_at > ${openedAfter}::timestamptz, true)`,
    sql<boolean>`coalesce(${lastUsed} > ${usedAfter}::timestamptz, true)`,
    eb.or([sql<boolean>`not ${singlePerUser}::boolean`, eb.not(eb.exists(newerSession(eb)))]),
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

/** refreshed_at has no zone and is UTC; created_at has one. */
const lastUsed = sql<Date>`coalesce(sessions.refreshed_at at time zone 'utc', sessions.created_at)`

function newerSession(eb: ExpressionBuilder<Database, 'sessions'>) {
  return eb
    .selectFrom('sessions as other')
    .select('other.id')
    .whereRef('other.user_id', '=', 'sessions.user_id')
    .whereRef('other.id', '<>', 'sessions.id')
    .where(sql<boolean>`other.tag is not distinct from sessions.tag`)
    .where(
      sql<boolean>`coalesce(other.refreshed_at at time zone 'utc', other.created_at) > ${lastUsed}`,
    )
}

/** True when another session of the same tag was used later than this one. */
export async function hasNewerSession(db: Db, sessionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('sessions')
    .select('sessions.id')
    .where('sessions.id', '=', sessionId)
    .where((eb) => eb.exists(newerSession(eb)))
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes one session of a person; false when it is not theirs or gone. */
export async function deleteSession(db: Db, userId: string, sessionId: string): Promise<boolean> {
  const result = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '=', sessionId)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** Deletes the sessions of a person; `except` stays. */
export async function deleteSessions(db: Db, userId: string, except?: string): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .$if(except !== undefined, (qb) => qb.where('id', '<>', except ?? ''))
    .execute()
}

/** Replaces the stored refresh-token key, e.g. to encrypt one that was found in clear. */
export async function setRefreshTokenKey(db: Db, sessionId: string, key: string, counter: number) {
  await db
    .updateTable('sessions')
    .set({ refresh_token_hmac_key: key, refresh_token_counter: counter })
    .where('id', '=', sessionId)
    .execute()
}
