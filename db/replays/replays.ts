import type { QueryCreator } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'

/**
 * Returns false when the key was consumed before. The row is part of the transaction that the key authorizes: a
 * concurrent one with the same key waits for it.
 */
export async function consumeOnce(trx: Trx, key: string, expiresAt: Date): Promise<boolean> {
  const result = await replayInsert(trx, key, expiresAt).executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** The insert of `consumeOnce`, as a statement or a CTE. */
export const replayInsert = (
  db: Pick<QueryCreator<Database>, 'insertInto'>,
  key: string,
  expiresAt: Date,
) =>
  db
    .insertInto('postern_replays')
    .values({ key, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('key').doNothing())

/** Deletes keys of messages that have expired. */
export function deleteExpiredReplays(db: Db, expiredBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_replays')
    .select('key')
    .where('expires_at', '<', expiredBefore)
    .orderBy('expires_at')
  return count(db.deleteFrom('postern_replays').where('key', '=', whereChosen(old, limit)))
}
