import { sql } from 'kysely'

import type { Db } from './database.ts'

/** Returns the number of pages of the table, 0 for an empty one. */
export async function countPages(
  db: Db,
  table: 'refresh_tokens' | 'sessions' | 'users',
): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select(
      sql<number>`pg_relation_size(tableoid) / current_setting('block_size')::bigint`.as('pages'),
    )
    .limit(1)
    .executeTakeFirst()
  return row?.pages ?? 0
}
