/** Some of the stored password hashes, looked up cheaply however many people there are. */
import { sql } from 'kysely'

import type { Db } from './database.ts'
import { countPages } from './table-pages.ts'

/**
 * The hashes as they are stored, each with its person's id, of about so many pages of the table, chosen at random; all of
 * them when it has no more.
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
