/**
 * Locks of names, for rows that do not exist yet and for changes of a whole table; and how long a lock is waited for.
 */
import { sql } from 'kysely'

import type { Trx } from './database.ts'
import { executePipelined, type ParamOf } from './statement.ts'

const locking = (take: 'pg_advisory_xact_lock' | 'pg_advisory_xact_lock_shared') =>
  executePipelined((db, value: ParamOf<{ name: string }>) =>
    db.selectNoFrom(sql`${sql.raw(take)}(hashtextextended(${value('name')}, 0))`.as('lock')),
  )

const locks = {
  exclusive: locking('pg_advisory_xact_lock'),
  shared: locking('pg_advisory_xact_lock_shared'),
}

/** Waits for the lock and holds it until the transaction ends. The lock is held when the next statement runs. */
export async function lockName(
  trx: Trx,
  name: string,
  mode: 'exclusive' | 'shared' = 'exclusive',
): Promise<void> {
  await locks[mode](trx, { name })
}

/** Sets the lock timeout of this transaction, in milliseconds. */
export const limitLockWaits = executePipelined((db, value: ParamOf<{ maxWaitMs: number }>) =>
  db.selectNoFrom(sql`set_config('lock_timeout', ${value('maxWaitMs')}::text, true)`.as('limit')),
)
