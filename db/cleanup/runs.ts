import { sql } from 'kysely'

import type { Db } from '../core/database.ts'

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
