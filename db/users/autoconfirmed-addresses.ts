/** Identifiers that were confirmed without verification. */
import { type ExpressionBuilder, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { executePipelined, type ParamOf, queryOne } from '../core/statement.ts'

const insertRow = executePipelined(
  (db, value: ParamOf<{ user_id: string; address: string; now: Date }>) =>
    db
      .insertInto('postern_autoconfirmed_addresses')
      .values({
        user_id: value('user_id'),
        address: value('address'),
        created_at: value('now'),
      })
      .onConflict((conflict) => conflict.doNothing()),
)

/** Records an identifier confirmed without verification. */
export async function insertAutoconfirmed(
  db: Db,
  userId: string,
  address: string,
  now: Date,
): Promise<void> {
  await insertRow(db, { user_id: userId, address, now })
}

const deleteRow = queryOne((db, value: ParamOf<{ user_id: string; address: string }>) =>
  db
    .deleteFrom('postern_autoconfirmed_addresses')
    .where('user_id', '=', value('user_id'))
    .where('address', '=', value('address'))
    .returning('user_id'),
)

/** Deletes the record after a verification. Returns true when there was one. */
export async function consumeAutoconfirmed(
  trx: Trx,
  userId: string,
  address: string,
): Promise<boolean> {
  return (await deleteRow(trx, { user_id: userId, address })) !== undefined
}

const findRow = queryOne((db, value: ParamOf<{ user_id: string; address: string }>) =>
  db
    .selectFrom('postern_autoconfirmed_addresses')
    .select('user_id')
    .where('user_id', '=', value('user_id'))
    .where('address', '=', value('address')),
)

/** Whether this identifier of the user was confirmed without verification. */
export async function isAutoconfirmed(
  db: Db,
  owned: { user_id: string; address: string },
): Promise<boolean> {
  return (await findRow(db, owned)) !== undefined
}

/** Whether the email of the `users` row was confirmed without verification. */
export const isEmailAutoconfirmed = (eb: ExpressionBuilder<Database, 'users'>) =>
  eb.exists(
    eb
      .selectFrom('postern_autoconfirmed_addresses as assumed')
      .select(sql`1`.as('one'))
      .whereRef('assumed.user_id', '=', 'users.id')
      .whereRef('assumed.address', '=', 'users.email'),
  )
