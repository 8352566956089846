/** Deletes expired one-time tokens, by the index on their creation time. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'

const utc = (time: Date) => sql<Date>`${time}::timestamptz at time zone 'utc'`

interface TokenAge {
  expiredBefore: Date
  /** For tokens created by GoTrue, which have no stored expiry. */
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
  return count(db.deleteFrom('one_time_tokens').where('id', '=', whereChosen(old, limit)))
}
