/** One-time tokens of phone numbers whose codes somebody else judges. */
import type { Db, Trx } from './database.ts'
import { type TokenRow, type TokenType, tokenColumns } from './one-time-tokens.ts'

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

/** Spends a token whose code was found right elsewhere; undefined when it is gone, replaced or late. */
export function takeFoundToken(
  trx: Trx,
  { id, token_hash }: TokenRow,
  now: Date,
): Promise<TokenRow | undefined> {
  return trx
    .deleteFrom('one_time_tokens')
    .where('id', '=', id)
    .where('token_hash', '=', token_hash)
    .where('expires_at', '>', now)
    .returning(tokenColumns)
    .executeTakeFirst()
}
