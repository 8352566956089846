import { type ExpressionBuilder, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import type { ActiveOrganization } from '../organizations/active.ts'
import type { AmrClaim } from '../tables/factors.ts'
import type { Aal, Impersonation } from '../tables/sessions.ts'
import type { UserRecord } from '../users/users.ts'
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
