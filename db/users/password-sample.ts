/** A sample of the stored password hashes, at a cost that does not depend on the number of users. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { countPages } from '../core/table-pages.ts'

/**
 * Returns the hashes with their user ids from about this many random pages of the table, or from all pages of a smaller
 * one.
 */
export async function samplePasswordHashes(
  db: Db,
  pages: number,
): Promise<{ id: string; value: string }[]> {
  const percent = Math.min(100, (100 * pages) / Math.max(1, await countPages(db, 'users')))
  const rows = await db
    .selectFrom('users')
    .select(['id', 'encrypted_password'])
    .modifyEnd(sql`tablesample system (${percent})`)
    .execute()
  return rows.flatMap(({ id, encrypted_password: value }) => (value ? [{ id, value }] : []))
}
