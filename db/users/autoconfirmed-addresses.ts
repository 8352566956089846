/** Identifiers that count as confirmed without a proof of their holder. */
import { type Expression, type ExpressionBuilder, type QueryCreator, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { executePipelined, type ParamOf, queryMany, queryOne } from '../core/statement.ts'
import type { AssumptionCause } from '../tables/users.ts'

const insertRow = executePipelined(
  (db, value: ParamOf<{ user_id: string; address: string; cause: AssumptionCause; now: Date }>) =>
    db
      .insertInto('postern_autoconfirmed_addresses')
      .values({
        user_id: value('user_id'),
        address: value('address'),
        created_at: value('now'),
        cause: value('cause'),
      })
      .onConflict((conflict) => conflict.doNothing()),
)

/** The same as a CTE, for the rows of a query: user, address, time and cause. */
export const insertAssumed = (
  db: Pick<QueryCreator<Database>, 'insertInto'>,
  rows: Expression<unknown>,
) =>
  db
    .insertInto('postern_autoconfirmed_addresses')
    .columns(['user_id', 'address', 'created_at', 'cause'])
    .expression(rows)
    .onConflict((conflict) => conflict.doNothing())

/** Records an identifier confirmed without verification, and who confirmed it instead. */
export async function insertAutoconfirmed(
  db: Db,
  userId: string,
  address: string,
  now: Date,
  cause: AssumptionCause = 'autoconfirm',
): Promise<void> {
  await insertRow(db, { user_id: userId, address, cause, now })
}

const deleteRow = queryOne((db, value: ParamOf<{ user_id: string; address: string }>) =>
  db
    .deleteFrom('postern_autoconfirmed_addresses')
    .where('user_id', '=', value('user_id'))
    .where('address', '=', value('address'))
    .returning('cause'),
)

/**
 * Deletes the record after a verification. Returns true when the identifier was autoconfirmed: its account may have been
 * created by another user.
 */
export async function consumeAutoconfirmed(
  trx: Trx,
  userId: string,
  address: string,
): Promise<boolean> {
  return (await deleteRow(trx, { user_id: userId, address }))?.cause === 'autoconfirm'
}

/** Deletes the record after an admin confirmed the identifier. That it was autoconfirmed stays recorded. */
export async function deleteAssertedAddress(
  trx: Trx,
  userId: string,
  address: string,
): Promise<void> {
  await trx
    .deleteFrom('postern_autoconfirmed_addresses')
    .where('user_id', '=', userId)
    .where('address', '=', address)
    .where('cause', '<>', 'autoconfirm')
    .execute()
}

const listRows = queryMany((db, value: ParamOf<{ user_id: string }>) =>
  db
    .selectFrom('postern_autoconfirmed_addresses')
    .select('address')
    .where('user_id', '=', value('user_id')),
)

/** The identifiers of the user that count as confirmed without a proof of their holder. */
export async function listAssumedAddresses(db: Db, userId: string): Promise<string[]> {
  return (await listRows(db, { user_id: userId })).map(({ address }) => address)
}

const findRow = queryOne((db, value: ParamOf<{ user_id: string; address: string }>) =>
  db
    .selectFrom('postern_autoconfirmed_addresses')
    .select('user_id')
    .where('user_id', '=', value('user_id'))
    .where('address', '=', value('address'))
    .where('cause', '=', sql.lit('autoconfirm')),
)

/** Whether this identifier of the user was autoconfirmed. */
export async function isAutoconfirmed(
  db: Db,
  owned: { user_id: string; address: string },
): Promise<boolean> {
  return (await findRow(db, owned)) !== undefined
}

/** Whether the email of the `users` row was autoconfirmed. */
export const isEmailAutoconfirmed = (eb: ExpressionBuilder<Database, 'users'>) =>
  eb.exists(
    eb
      .selectFrom('postern_autoconfirmed_addresses as assumed')
      .select(sql`1`.as('one'))
      .whereRef('assumed.user_id', '=', 'users.id')
      .whereRef('assumed.address', '=', 'users.email')
      .where('assumed.cause', '=', sql.lit('autoconfirm')),
  )
