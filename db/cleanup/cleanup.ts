/**
 * Deletes old rows, oldest first by an index on the time, at most `limit` per call. Rows locked by a request are
 * skipped until the next run.
 */
import { type ExpressionBuilder, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { count, inPages, maxPerRange, type PagedQuery, whereChosen } from '../core/paging.ts'

/** Deletes sessions whose `not_after` has passed. */
export function deleteEndedSessions(db: Db, endedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('sessions')
    .select('id')
    .where('not_after', '<', endedBefore)
    .orderBy('not_after')
  return count(db.deleteFrom('sessions').where('id', '=', whereChosen(old, limit)))
}

interface SessionAge {
  /** Null when there is no limit of this type. */
  openedBefore: Date | null
  usedBefore: Date | null
}

/**
 * Deletes sessions that reached a time limit, in a range of table pages. There is no index on the time of use: every
 * refresh would have to update it and could not be a heap-only tuple (HOT) update any more.
 */
export function deleteExpiredSessions(
  db: Db,
  { openedBefore, usedBefore }: SessionAge,
  pages: PagedQuery,
): Promise<number> {
  const old = db
    .selectFrom('sessions')
    .select('id')
    .where(inPages('sessions', pages))
    .where((eb) =>
      eb.or([
        sql<boolean>`created_at < ${openedBefore}::timestamptz`,
        eb.and([
          sql<boolean>`coalesce(refreshed_at at time zone 'utc', created_at) < ${usedBefore}::timestamptz`,
          eb(tokenUsedSince(eb, usedBefore), 'is', null),
        ]),
      ]),
    )
  return count(db.deleteFrom('sessions').where('id', '=', whereChosen(old, maxPerRange)))
}

/** Earlier releases of GoTrue recorded a refresh in the token only. */
function tokenUsedSince(eb: ExpressionBuilder<Database, 'sessions'>, since: Date | null) {
  return eb
    .selectFrom('refresh_tokens')
    .select('refresh_tokens.id')
    .whereRef('refresh_tokens.session_id', '=', 'sessions.id')
    .where(sql<boolean>`refresh_tokens.updated_at >= ${since}::timestamptz`)
    .limit(sql.lit(1))
}

/**
 * Deletes revoked refresh tokens of the older format, in a range of table pages. The last one of a session is kept as
 * long as the session: the client may not have received the response, and reuse of the token must be detected.
 */
export function deleteRevokedRefreshTokens(db: Db, revokedBefore: Date, pages: PagedQuery) {
  const old = db
    .selectFrom('refresh_tokens')
    .select('refresh_tokens.id')
    .where(inPages('refresh_tokens', pages))
    .where('refresh_tokens.updated_at', '<', revokedBefore)
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
  return count(db.deleteFrom('refresh_tokens').where('id', '=', whereChosen(old, maxPerRange)))
}

export function deleteOldFlowStates(db: Db, startedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('flow_state')
    .select('id')
    .where('created_at', '<', startedBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('flow_state').where('id', '=', whereChosen(old, limit)))
}

/** Deletes factor challenges, verified or not. */
export function deleteOldChallenges(db: Db, madeBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('mfa_challenges')
    .select('id')
    .where('created_at', '<', madeBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('mfa_challenges').where('id', '=', whereChosen(old, limit)))
}

/** Deletes factors that were never verified. */
export function deleteAbandonedFactors(db: Db, addedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('mfa_factors')
    .select('id')
    .where('status', '=', 'unverified')
    .where('created_at', '<', addedBefore)
  return count(db.deleteFrom('mfa_factors').where('id', '=', whereChosen(old, limit)))
}

export function deleteOldThrottles(db: Db, failedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_throttles')
    .select('key')
    .where('updated_at', '<', failedBefore)
    .orderBy('updated_at')
  return count(db.deleteFrom('postern_throttles').where('key', '=', whereChosen(old, limit)))
}

export function deleteOldKnownDevices(db: Db, usedBefore: Date, limit: number): Promise<number> {
  return deleteOldDevices(db, 'postern_known_devices', usedBefore, limit)
}

export function deleteOldSignInDevices(db: Db, usedBefore: Date, limit: number): Promise<number> {
  return deleteOldDevices(db, 'postern_sign_in_devices', usedBefore, limit)
}

/** The key has two columns, so that `chosen`, which takes one, cannot be used. */
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
  return count(db.deleteFrom(table).where(sql<string>`ctid`, '=', whereChosen(old, limit)))
}

export function deleteOldSendIntervals(db: Db, sentBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_send_intervals')
    .select('key')
    .where('sent_at', '<', sentBefore)
    .orderBy('sent_at')
  return count(db.deleteFrom('postern_send_intervals').where('key', '=', whereChosen(old, limit)))
}

export function deleteOldAuditEntries(db: Db, createdBefore: Date, limit: number) {
  const old = db
    .selectFrom('audit_log_entries')
    .select('id')
    .where('created_at', '<', createdBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('audit_log_entries').where('id', '=', whereChosen(old, limit)))
}

const utc = (time: Date) => sql<Date>`${time}::timestamptz at time zone 'utc'`

interface TokenAge {
  expiredBefore: Date
  /** For tokens created by GoTrue, which have no stored expiry. */
  madeBefore: Date
}

export function deleteExpiredOneTimeTokens(
  db: Db,
  { expiredBefore, madeBefore }: TokenAge,
  limit: number,
) {
  const old = db
    .selectFrom('one_time_tokens')
    .select('id')
    .where('created_at', '<', utc(expiredBefore))
    .where((eb) => {
      const expiry = eb
        .selectFrom('postern_one_time_tokens')
        .select('expires_at')
        .whereRef('token_id', '=', 'one_time_tokens.id')
      const isOld = eb('created_at', '<', utc(madeBefore))
      return sql<boolean>`coalesce(${expiry} < ${expiredBefore}, ${isOld})`
    })
    .orderBy('created_at')
  return count(db.deleteFrom('one_time_tokens').where('id', '=', whereChosen(old, limit)))
}

export function deleteExpiredPasskeyChallenges(db: Db, expiredBefore: Date, limit: number) {
  const old = db
    .selectFrom('webauthn_challenges')
    .select('id')
    .where('expires_at', '<', expiredBefore)
    .orderBy('expires_at')
  return count(db.deleteFrom('webauthn_challenges').where('id', '=', whereChosen(old, limit)))
}

/** Deletes anonymous users with all their rows. */
export function deleteOldAnonymousUsers(db: Db, createdBefore: Date, limit: number) {
  const old = oldAnonymousUsers(db, createdBefore)
  return count(db.deleteFrom('users').where('id', '=', whereChosen(old, limit)))
}

/** Returns at most `limit` ids of users that `deleteOldAnonymousUsers` would delete. */
export async function listOldAnonymousUsers(db: Db, createdBefore: Date, limit: number) {
  const rows = await oldAnonymousUsers(db, createdBefore).limit(limit).execute()
  return rows.map(({ id }) => id)
}

function oldAnonymousUsers(db: Db, createdBefore: Date) {
  return db
    .selectFrom('users')
    .select('id')
    .where('is_anonymous', '=', true)
    .where('created_at', '<', createdBefore)
}

/** Returns false when there is no such user, or when the user is not anonymous any more. */
export async function deleteAnonymousUser(db: Db, id: string): Promise<boolean> {
  const deletion = db.deleteFrom('users').where('id', '=', id).where('is_anonymous', '=', true)
  return (await count(deletion)) > 0
}

/** Records that a cleanup has finished. */
export async function upsertCleanupRun(db: Db, endedAt: Date): Promise<void> {
  await db
    .insertInto('postern_clean_up_runs')
    .values({ kind: 'rows', ended_at: endedAt })
    .onConflict((conflict) => conflict.column('kind').doUpdateSet({ ended_at: endedAt }))
    .execute()
}

/** Returns the seconds since the last finished cleanup, by the clock of the database. */
export async function findCleanUpAge(db: Db): Promise<number | undefined> {
  const row = await db
    .selectFrom('postern_clean_up_runs')
    .select(sql<number>`extract(epoch from now() - ended_at)::float8`.as('age'))
    .where('kind', '=', 'rows')
    .executeTakeFirst()
  return row?.age
}
