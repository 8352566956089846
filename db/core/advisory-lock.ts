/** Locks of names, for rows that do not exist yet and for changes of a whole table. */
import { sql } from 'kysely'

import type { Trx } from './database.ts'

const functions = {
  exclusive: sql`pg_advisory_xact_lock`,
  shared: sql`pg_advisory_xact_lock_shared`,
}

/** Waits for the lock and holds it until the transaction ends. */
export async function lockName(
  trx: Trx,
  name: string,
  mode: 'exclusive' | 'shared' = 'exclusive',
): Promise<void> {
  await sql`select ${functions[mode]}(hashtextextended(${name}, 0))`.execute(trx)
}
