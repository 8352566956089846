import { sql } from 'kysely'

import type { Db } from './database.ts'

/** When work that any replica may do was last done. */
export interface CleanUpRunsTable {
  kind: string
  ended_at: Date
}

/** Old rows have been removed, all of them that were to go. */
export async function putCleanUpRun(db: Db, endedAt: Date): Promise<void> {
  await db
    .insertInto('postern_clean_up_runs')
    .values({ kind: 'rows', ended_at: endedAt })
    .onConflict((conflict) => conflict.column('kind').doUpdateSet({ ended_at: endedAt }))
    .execute()
}

/** Seconds since that happened, by the clock of the database. */
export async function findCleanUpAge(db: Db): Promise<number | undefined> {
  const row = await db
    .selectFrom('postern_clean_up_runs')
    .select(sql<number>`extract(epoch from now() - ended_at)::float8`.as('age'))
    .where('kind', '=', 'rows')
    .executeTakeFirst()
  return row?.age
}
