import { sql } from 'kysely'

import type { Db } from './database.ts'

/** Failed proofs per account; the key is a keyed hash, known account or not. */
export interface ThrottlesTable {
  key: string
  failures: number
  blocked_until: Date | null
  updated_at: Date
}

export type ThrottleRow = Pick<ThrottlesTable, 'failures' | 'blocked_until'>

/** The failures of this key, unless the last of them was at or before `forgetBefore`. */
export function findThrottle(
  db: Db,
  key: string,
  forgetBefore: Date,
): Promise<ThrottleRow | undefined> {
  return db
    .selectFrom('postern_throttles')
    .select(['failures', 'blocked_until'])
    .where('key', '=', key)
    .where('updated_at', '>', forgetBefore)
    .executeTakeFirst()
}

/** Blocks the key until then; false when it is blocked already, by a request that came first. */
export async function claimAttempt(db: Db, key: string, until: Date, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('postern_throttles')
    .set({ blocked_until: until })
    .where('key', '=', key)
    .where(sql<boolean>`coalesce(blocked_until <= ${now}, true)`)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Counts a failure; failures before `forgetBefore` are forgotten. Returns how many there are now. */
export async function countFailure(
  db: Db,
  key: string,
  forgetBefore: Date,
  now: Date,
): Promise<number> {
  const row = await db
    .insertInto('postern_throttles')
    .values({ key, failures: 1, blocked_until: null, updated_at: now })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        failures: sql`case when postern_throttles.updated_at <= ${forgetBefore} then 1 else postern_throttles.failures + 1 end`,
        updated_at: now,
      }),
    )
    .returning('failures')
    .executeTakeFirstOrThrow()
  return row.failures
}

export async function blockUntil(db: Db, key: string, until: Date): Promise<void> {
  await db
    .updateTable('postern_throttles')
    .set({ blocked_until: until })
    .where('key', '=', key)
    .execute()
}

export async function forgetFailures(db: Db, key: string): Promise<void> {
  await db.deleteFrom('postern_throttles').where('key', '=', key).execute()
}
