/** Accounts whose credentials or addresses an admin below owner decided. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'

export async function insertPreparedAccounts(
  trx: Trx,
  userIds: readonly string[],
  now: Date,
): Promise<void> {
  const rows = trx.selectNoFrom([
    sql<string>`unnest(${[...userIds]}::uuid[])`.as('user_id'),
    sql<Date>`${now}::timestamptz`.as('created_at'),
  ])
  await trx
    .insertInto('postern_prepared_accounts')
    .columns(['user_id', 'created_at'])
    .expression(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function isPreparedAccount(db: Db, userId: string): Promise<boolean> {
  const found = await db
    .selectFrom('postern_prepared_accounts')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return found !== undefined
}

export async function deletePreparedAccount(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('postern_prepared_accounts').where('user_id', '=', userId).execute()
}
