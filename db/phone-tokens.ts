/** One-time tokens of phone numbers: codes that somebody else judges, and changes of the number that are given up. */
import type { Db, Trx } from './database.ts'
import { deleteTokens, spend, type TokenRow, tokenColumns } from './one-time-tokens.ts'
import type { TokenType } from './user-tokens.ts'

/** The last token sent to an address, live or not. Served by one_time_tokens_relates_to_hash_idx. */
export function findNewestToken(
  db: Db,
  type: TokenType,
  address: string,
): Promise<TokenRow | undefined> {
  return db
    .selectFrom('one_time_tokens')
    .select(tokenColumns)
    .where('relates_to', '=', address)
    .where('token_type', '=', type)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Spends a token that was live when its code was found right elsewhere; undefined when it is gone or replaced by now. */
export function takeFoundToken(
  trx: Trx,
  { id, token_hash }: TokenRow,
): Promise<TokenRow | undefined> {
  return spend(trx, (db) =>
    db.deleteFrom('one_time_tokens').where('id', '=', id).where('token_hash', '=', token_hash),
  )
}

/** Gives up a change of the number that waits for its code. */
export async function dropPhoneChange(trx: Trx, userId: string): Promise<void> {
  await deleteTokens(trx, userId, ['phone_change_token'])
  await trx
    .updateTable('users')
    .set({ phone_change: '' })
    .where('id', '=', userId)
    .where('phone_change', '<>', '')
    .execute()
}
