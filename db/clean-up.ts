/**
 * Removal of old rows, at most `limit`, the oldest first by an index on the time. What a request holds is left for later.
 */
import { type Expression, type SelectQueryBuilder, sql } from 'kysely'

import type { Database, Db } from './database.ts'

type Ids<T extends keyof Database, C extends string, V> = SelectQueryBuilder<
  Database,
  T,
  Record<C, V>
>

/** Chosen once, so that the plan looks up `limit` rows by their key, however large the table. */
export function chosen<T extends keyof Database, C extends string, V>(
  ids: Ids<T, C, V>,
  limit: number,
): Expression<V> {
  return sql<V>`any(array(${ids.limit(limit).forUpdate().skipLocked()}))`
}

interface Deletion {
  executeTakeFirstOrThrow(): Promise<{ numDeletedRows: bigint }>
}

export async function count(deletion: Deletion): Promise<number> {
  return Number((await deletion.executeTakeFirstOrThrow()).numDeletedRows)
}

/** Sessions with an end of their own. */
export function deleteEndedSessions(db: Db, endedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('sessions')
    .select('id')
    .where('not_after', '<', endedBefore)
    .orderBy('not_after')
  return count(db.deleteFrom('sessions').where('id', '=', chosen(old, limit)))
}

export interface SessionAge {
  /** Null without a limit of that kind. */
  openedBefore: Date | null
  usedBefore: Date | null
}

/**
 * Sessions that reached a limit, in a range of the table's pages. There is no index on when a session was used: every
 * refresh would have to write it, and all other indexes with it (such an update is no heap-only one any more).
 */
export function deleteExpiredSessions(
  db: Db,
  { openedBefore, usedBefore }: SessionAge,
  pages: Pages,
): Promise<number> {
  const old = db
    .selectFrom('sessions')
    .select('id')
    .where(inPages('sessions', pages))
    .where((eb) =>
      eb.or([
        sql<boolean>`created_at < ${openedBefore}::timestamptz`,
        sql<boolean>`coalesce(refreshed_at at time zone 'utc', created_at) < ${usedBefore}::timestamptz`,
      ]),
    )
  return count(db.deleteFrom('sessions').where('id', '=', chosen(old, maxPerRange)))
}

export interface Pages {
  from: number
  to: number
}

/** Rows of the table that lie there. */
export function inPages(table: 'sessions' | 'refresh_tokens', { from, to }: Pages) {
  const place = sql.ref(`${table}.ctid`)
  return sql<boolean>`${place} >= ${`(${from},0)`}::tid and ${place} < ${`(${to},0)`}::tid`
}

/** More than the pages of one range can hold. */
export const maxPerRange = 1_000_000

/**
 * Refresh tokens of the older format that were spent, in a range of the table's pages. The last one of a session stays as
 * long as that: whoever has it may not have heard the answer, or may find that somebody else has.
 */
export function deleteSpentRefreshTokens(db: Db, spentBefore: Date, pages: Pages) {
  const old = db
    .selectFrom('refresh_tokens')
    .select('refresh_tokens.id')
    .where(inPages('refresh_tokens', pages))
    .where('refresh_tokens.updated_at', '<', spentBefore)
    .where('refresh_tokens.revoked', '=', true)
    .where((eb) =>
      eb.or([
        eb('refresh_tokens.session_id', 'is', null),
        eb.exists(
          eb
            .selectFrom('refresh_tokens as later')
            .select('later.id')
            .whereRef('later.session_id', '=', 'refresh_tokens.session_id')
            .where('later.revoked', '=', true)
            .whereRef('later.updated_at', '>', 'refresh_tokens.updated_at'),
        ),
      ]),
    )
  return count(db.deleteFrom('refresh_tokens').where('id', '=', chosen(old, maxPerRange)))
}

export function deleteOldFlowStates(db: Db, startedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('flow_state')
    .select('id')
    .where('created_at', '<', startedBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('flow_state').where('id', '=', chosen(old, limit)))
}

/** Challenges of second factors, answered or not. */
export function deleteOldChallenges(db: Db, madeBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('mfa_challenges')
    .select('id')
    .where('created_at', '<', madeBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('mfa_challenges').where('id', '=', chosen(old, limit)))
}

/** Second factors that were never confirmed. */
export function deleteAbandonedFactors(db: Db, addedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('mfa_factors')
    .select('id')
    .where('status', '=', 'unverified')
    .where('created_at', '<', addedBefore)
  return count(db.deleteFrom('mfa_factors').where('id', '=', chosen(old, limit)))
}

export function deleteOldThrottles(db: Db, failedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_throttles')
    .select('key')
    .where('updated_at', '<', failedBefore)
    .orderBy('updated_at')
  return count(db.deleteFrom('postern_throttles').where('key', '=', chosen(old, limit)))
}

export function deleteOldKnownDevices(db: Db, usedBefore: Date, limit: number): Promise<number> {
  return deleteOldDevices(db, 'postern_known_devices', usedBefore, limit)
}

export function deleteOldSignInDevices(db: Db, usedBefore: Date, limit: number): Promise<number> {
  return deleteOldDevices(db, 'postern_sign_in_devices', usedBefore, limit)
}

/** Rows of a key of two columns, which an array of keys cannot name. */
function deleteOldDevices(
  db: Db,
  table: 'postern_known_devices' | 'postern_sign_in_devices',
  usedBefore: Date,
  limit: number,
): Promise<number> {
  const old = db
    .selectFrom(table)
    .select(sql<string>`ctid`.as('ctid'))
    .where('last_used_at', '<', usedBefore)
    .orderBy('last_used_at')
  return count(db.deleteFrom(table).where(sql<string>`ctid`, '=', chosen(old, limit)))
}

export function deleteOldSendIntervals(db: Db, sentBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_send_intervals')
    .select('key')
    .where('sent_at', '<', sentBefore)
    .orderBy('sent_at')
  return count(db.deleteFrom('postern_send_intervals').where('key', '=', chosen(old, limit)))
}

/** People without any address, and all that hangs on them. */
export function deleteOldAnonymousUsers(db: Db, createdBefore: Date, limit: number) {
  const old = db
    .selectFrom('users')
    .select('id')
    .where('is_anonymous', '=', true)
    .where('created_at', '<', createdBefore)
  return count(db.deleteFrom('users').where('id', '=', chosen(old, limit)))
}

export function deleteOldAuditEntries(db: Db, createdBefore: Date, limit: number) {
  const old = db
    .selectFrom('audit_log_entries')
    .select('id')
    .where('created_at', '<', createdBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('audit_log_entries').where('id', '=', chosen(old, limit)))
}
