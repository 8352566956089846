import { type ExpressionBuilder, type Generated, sql } from 'kysely'

import type { Database, Db, Trx } from './database.ts'
import type { Impersonation } from './impersonations.ts'
import type { AmrClaim } from './mfa.ts'
import type { UserRecord } from './users.ts'

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
  /** The application that a GoTrue's OAuth server opened it for. */
  oauth_client_id: string | null
  refresh_token_hmac_key: string | null
  refresh_token_counter: Generated<number | null>
}

export const sessionColumns = [
  'sessions.id as session_id',
  'sessions.created_at as session_created_at',
  'sessions.refreshed_at',
  'sessions.not_after',
  'sessions.aal',
  'sessions.tag',
  'sessions.oauth_client_id',
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
  /** Encrypted (plugins/encryption.ts), or plain in a database taken over from GoTrue. */
  refresh_token_hmac_key: string | null
  refresh_token_counter: number | null
  amr: AmrClaim[]
}

/** A session together with the person it belongs to. */
export type SessionRecord = UserRecord & SessionState

/** A session with all that its access token says of it. */
export type TokenSession = SessionRecord & Impersonation

/** How a session was opened, newest first (RFC 8176 calls it amr). */
export const amrClaims = (eb: Pick<ExpressionBuilder<Database, 'sessions'>, 'selectFrom'>) =>
  eb
    .selectFrom('mfa_amr_claims')
    .select([
      'mfa_amr_claims.authentication_method as method',
      sql<number>`floor(extract(epoch from mfa_amr_claims.updated_at))::bigint`.as('timestamp'),
    ])
    .orderBy('mfa_amr_claims.updated_at', 'desc')

/** Keeps a session of the person from ending until the transaction does; false when it has ended. */
export async function holdSession(trx: Trx, userId: string, sessionId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .forKeyShare()
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

/** Deletes the sessions of a person; `except` stays. Returns their ids. */
export async function deleteSessions(db: Db, userId: string, except?: string): Promise<string[]> {
  const rows = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .$if(except !== undefined, (qb) => qb.where('id', '<>', except ?? ''))
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}
