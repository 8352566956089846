/** One-time tokens of phone numbers whose codes an external service verifies, and cancelled phone changes. */
import type { Db, Trx } from '../core/database.ts'
import type { TokenType } from '../tables/users.ts'
import {
  consumeOneTimeToken,
  deleteTokens,
  type TokenRow,
  tokenColumns,
} from './one-time-tokens.ts'

/** Returns the last token for a number, live or not, by one_time_tokens_relates_to_hash_idx. */
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

/** Consumes a token after an external verification; undefined when it was deleted or replaced concurrently. */
export function consumePhoneToken(
  trx: Trx,
  { id, token_hash }: TokenRow,
): Promise<TokenRow | undefined> {
  return consumeOneTimeToken(trx, (db) =>
    db.deleteFrom('one_time_tokens').where('id', '=', id).where('token_hash', '=', token_hash),
  )
}

/** Cancels a pending phone change. */
export async function dropPhoneChange(trx: Trx, userId: string): Promise<void> {
  await deleteTokens(trx, userId, ['phone_change_token'])
  await trx
    .updateTable('users')
    .set({ phone_change: '' })
    .where('id', '=', userId)
    .where('phone_change', '<>', '')
    .execute()
}
