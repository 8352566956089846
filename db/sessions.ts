import { type ExpressionBuilder, type Generated, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import { type AuditEntry, auditInsert } from './audit-log-entries.ts'
import type { Database, Db } from './database.ts'
import type { AmrClaim } from './mfa.ts'
import { prepareStatement } from './prepared-statement.ts'
import { userColumns } from './user-columns.ts'
import { type UserRecord, userRelations } from './users.ts'

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
  /** The admin who borrowed the account for this session; null for a session of the person's own. */
  postern_impersonated_by: string | null
}

export const sessionColumns = [
  'sessions.id as session_id',
  'sessions.created_at as session_created_at',
  'sessions.refreshed_at',
  'sessions.not_after',
  'sessions.aal',
  'sessions.tag',
  'sessions.refresh_token_hmac_key',
  'sessions.refresh_token_counter',
  'sessions.postern_impersonated_by',
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
  postern_impersonated_by: string | null
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
  postern_impersonated_by: string | null
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
    .set({ updated_at: now, ...(!session.postern_impersonated_by && { last_sign_in_at: now }) })
    .where('id', '=', session.user_id)
    .execute()
}

/** How a session was opened, newest first (RFC 8176 calls it amr). */
export const amrClaims = (eb: Pick<ExpressionBuilder<Database, 'sessions'>, 'selectFrom'>) =>
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

const deviceColumns = [
  'sessions.id as session_id',
  'sessions.created_at as session_created_at',
  'sessions.refreshed_at',
  'sessions.not_after',
  'sessions.user_agent',
  'sessions.ip',
  'sessions.postern_impersonated_by',
] as const

export type SessionRow = Pick<
  SessionState,
  'session_id' | 'session_created_at' | 'refreshed_at' | 'not_after' | 'postern_impersonated_by'
> &
  Pick<NewSession, 'user_agent' | 'ip'>

/** The sessions of a person, last used first; nobody looks through more than a thousand. */
export function findSessions(db: Db, userId: string): Promise<SessionRow[]> {
  return db
    .selectFrom('sessions')
    .select(deviceColumns)
    .where('user_id', '=', userId)
    .orderBy(sql`coalesce(refreshed_at at time zone 'utc', created_at)`, 'desc')
    .orderBy('id')
    .limit(1000)
    .execute()
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
