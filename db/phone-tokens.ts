/** One-time tokens of phone numbers whose codes somebody else judges. */
import type { Db, Trx } from './database.ts'
import { spend, type TokenRow, tokenColumns } from './one-time-tokens.ts'
import { isLive, type Lifetimes } from './token-life.ts'
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

/** Spends a token whose code was found right elsewhere; undefined when it is gone, replaced or late. */
export function takeFoundToken(
  trx: Trx,
  { id, token_hash }: TokenRow,
  lifetimes: Lifetimes,
  now: Date,
): Promise<TokenRow | undefined> {
  return spend(trx, (db) =>
    db
      .deleteFrom('one_time_tokens')
      .where('id', '=', id)
      .where('token_hash', '=', token_hash)
      .where((eb) => isLive(eb, lifetimes, now)),
  )
}
