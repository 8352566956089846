/** Usage counts by the hour. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import type { UsageCountsTable } from '../tables/statistics.ts'

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
