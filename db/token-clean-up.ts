/** Removal of one-time tokens that are too old, by the index on when they were made. */
import { sql } from 'kysely'

import { chosen, count } from './clean-up.ts'
import type { Db } from './database.ts'

const utc = (time: Date) => sql<Date>`${time}::timestamptz at time zone 'utc'`

export function deleteExpiredOneTimeTokens(db: Db, expiredBefore: Date, limit: number) {
  const old = db
    .selectFrom('one_time_tokens')
    .select('id')
    .where('created_at', '<', utc(expiredBefore))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('postern_one_time_tokens')
            .select('token_id')
            .whereRef('token_id', '=', 'one_time_tokens.id')
            .where('expires_at', '>=', expiredBefore),
        ),
      ),
    )
    .orderBy('created_at')
  return count(db.deleteFrom('one_time_tokens').where('id', '=', chosen(old, limit)))
}
