/** Stored password hashes: renewed for the same password, and sampled. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { countPages } from '../core/paging.ts'
import { executeStatement, type ParamOf } from '../core/statement.ts'

interface RenewedHash {
  key: string
  now: Date
  old: string
  renewed: string
}

const renewed = executeStatement((db, value: ParamOf<RenewedHash>) =>
  db
    .updateTable('users')
    .set({ encrypted_password: value('renewed'), updated_at: value('now') })
    .where('id', '=', value('key'))
    .where('encrypted_password', '=', value('old')),
)

/** Stores another hash of the same password; false when the stored hash has changed. */
export async function renewPasswordHash(
  db: Db,
  id: string,
  hashes: { old: string; renewed: string },
  now: Date,
): Promise<boolean> {
  return (await renewed(db, { ...hashes, key: id, now })) > 0
}

/**
 * Returns the hashes with their user ids from about this many random pages of the table, or from all pages of a smaller
 * one: the cost does not depend on the number of users.
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
