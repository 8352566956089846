/** Removal of one-time tokens that are too old, by the index on when they were made. */
import { sql } from 'kysely'

import { chosen, count } from './clean-up.ts'
import type { Db } from './database.ts'

const utc = (time: Date) => sql<Date>`${time}::timestamptz at time zone 'utc'`

export interface TokenAge {
  expiredBefore: Date
  /** Of GoTrue's, for which nothing says when they expire. */
  madeBefore: Date
}

export function deleteExpiredOneTimeTokens(
  db: Db,
  { expiredBefore, madeBefore }: TokenAge,
  limit: number,
) {
  const old = db
    .selectFrom('one_time_tokens')
    .select('id')
    .where('created_at', '<', utc(expiredBefore))
    .where((eb) => {
      const expiry = eb
        .selectFrom('postern_one_time_tokens')
        .select('expires_at')
        .whereRef('token_id', '=', 'one_time_tokens.id')
      const isOld = eb('created_at', '<', utc(madeBefore))
      return sql<boolean>`coalesce(${expiry} < ${expiredBefore}, ${isOld})`
    })
    .orderBy('created_at')
  return count(db.deleteFrom('one_time_tokens').where('id', '=', chosen(old, limit)))
}
