import { sql } from 'kysely'

import { preparedUnawaited, type ValueOf } from './prepared-statement.ts'

/** From here on, a lock that this transaction does not get within so many milliseconds is an error. */
export const limitLockWaits = preparedUnawaited((db, value: ValueOf<{ longestMs: number }>) =>
  db.selectNoFrom(sql`set_config('lock_timeout', ${value('longestMs')}::text, true)`.as('limit')),
)
