/**
 * Statistics of the installation. Large tables are counted up to a limit; above it, Postgres's statistics give an
 * estimate.
 */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { exactCountLimit } from '../core/paging.ts'
import type { UsageCountsTable } from '../tables/server.ts'
import { isOfInstance } from '../users/search.ts'

/**
 * New users in each bucket of so many seconds, by a range of postern_users_listed_idx for each: to compute the bucket of
 * every user takes four times as long.
 */
export function countNewUsers(
  db: Db,
  { aud, starts, bucketSeconds }: { aud: string; starts: number[]; bucketSeconds: number },
): Promise<{ at: number; count: number }[]> {
  return db
    .selectFrom(sql<{ at: number }>`unnest(${starts}::float8[])`.as<'bucket'>(sql`bucket(at)`))
    .select('bucket.at')
    .select((eb) =>
      eb
        .selectFrom('users')
        .select(sql<number>`count(*)::float8`.as('count'))
        .where(isOfInstance)
        .where('users.aud', '=', aud)
        .where('users.created_at', '>=', sql<Date>`to_timestamp(bucket.at)`)
        .where(
          'users.created_at',
          '<',
          sql<Date>`to_timestamp(bucket.at + ${sql.lit(bucketSeconds)})`,
        )
        .$asScalar()
        .$notNull()
        .as('count'),
    )
    .execute()
}

/** Sessions that have not ended, up to `exactCountLimit` + 1. */
export async function countActiveSessions(db: Db, now: Date): Promise<number> {
  const some = db
    .selectFrom('sessions')
    .select('id')
    .where((eb) => eb.or([eb('not_after', 'is', null), eb('not_after', '>', now)]))
    .limit(exactCountLimit + 1)
  const { counted } = await db
    .selectFrom(some.as('some'))
    .select(sql<number>`count(*)::float8`.as('counted'))
    .executeTakeFirstOrThrow()
  return counted
}

/** By Postgres's statistics; undefined for an empty table. */
export async function estimateSessions(db: Db): Promise<number | undefined> {
  const row = await db
    .selectFrom('sessions')
    .select(
      sql<number>`(select reltuples::float8 from pg_class where oid = sessions.tableoid)`.as(
        'rows',
      ),
    )
    .limit(1)
    .executeTakeFirst()
  return row?.rows
}

export interface WebhookHealth {
  id: string
  url: string
  state: 'active' | 'paused'
  reason: string | null
  failures: number
  dead: number
}

/** Webhooks, and the number of events that each did not accept. */
export function listWebhookHealth(db: Db): Promise<WebhookHealth[]> {
  return db
    .selectFrom('postern_webhooks')
    .select(['id', 'url', 'state', 'reason', 'failures'])
    .select((eb) =>
      eb
        .selectFrom('postern_webhook_deliveries')
        .select(sql<number>`count(*)::float8`.as('dead'))
        .whereRef('webhook_id', '=', 'postern_webhooks.id')
        .where('postern_webhook_deliveries.state', '=', sql.lit('dead'))
        .$castTo<number>()
        .as('dead'),
    )
    .orderBy('created_at')
    .execute()
    .then((rows) => rows.map((row) => ({ ...row, dead: Number(row.dead) })))
}

export type UsageCount = UsageCountsTable

/** Adds to the stored counts; replicas add to the same rows. */
export async function addUsageCounts(db: Db, counts: readonly UsageCount[]): Promise<void> {
  await db
    .insertInto('postern_usage_counts')
    .values(counts)
    .onConflict((conflict) =>
      conflict.columns(['hour', 'kind', 'name', 'outcome']).doUpdateSet({
        count: sql<number>`postern_usage_counts.count + excluded.count`,
      }),
    )
    .execute()
}

export interface BucketCount extends Omit<UsageCountsTable, 'hour'> {
  /** Seconds since the Unix epoch. */
  at: number
}

/** Sums by buckets of so many seconds. */
export function sumUsageCounts(
  db: Db,
  { since, bucketSeconds }: { since: Date; bucketSeconds: number },
): Promise<BucketCount[]> {
  const at = sql<number>`(floor(extract(epoch from hour) / ${sql.lit(bucketSeconds)}) * ${sql.lit(bucketSeconds)})::float8`
  return db
    .selectFrom('postern_usage_counts')
    .select([at.as('at'), 'kind', 'name', 'outcome'])
    .select(sql<number>`sum(count)::float8`.as('count'))
    .where('hour', '>=', since)
    .groupBy([sql`1`, 'kind', 'name', 'outcome'])
    .orderBy('kind')
    .orderBy('name')
    .orderBy('outcome')
    .execute()
}

/** Returns how many rows were removed. */
export async function deleteOldUsageCounts(db: Db, before: Date): Promise<number> {
  const removed = await db
    .deleteFrom('postern_usage_counts')
    .where('hour', '<', before)
    .executeTakeFirst()
  return Number(removed.numDeletedRows)
}
