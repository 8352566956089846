import { sql } from 'kysely'

import { executePipelined, type ParamOf } from './statement.ts'

/** Sets the lock timeout of this transaction, in milliseconds. */
export const limitLockWaits = executePipelined((db, value: ParamOf<{ maxWaitMs: number }>) =>
  db.selectNoFrom(sql`set_config('lock_timeout', ${value('maxWaitMs')}::text, true)`.as('limit')),
)
