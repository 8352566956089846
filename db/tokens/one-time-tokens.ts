import { type QueryCreator, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { executePipelined, type ParamOf } from '../core/statement.ts'
import type { TokenPurpose } from '../tables/tokens.ts'
import type { TokenType } from '../tables/users.ts'
import { isLive, isNotFor, type Lifetimes } from './expiry.ts'
import { clearConsumed, mirrorToken } from './gotrue-columns.ts'

interface NewToken {
  user_id: string
  token_type: TokenType
  token_hash: string
  /** The recipient of the code, in its stored form. */
  relates_to: string
  expires_at: Date
  purpose: TokenPurpose | null
  /** For the user's column of the type, where GoTrue looks a typed code up; null writes nothing. */
  mirror: string | null
}

export interface TokenRow {
  id: string
  user_id: string
  token_type: TokenType
  token_hash: string
  relates_to: string
}

export const tokenColumns = ['id', 'user_id', 'token_type', 'token_hash', 'relates_to'] as const

type StoredToken = NewToken & { now: Date }

const tokenUpsert = (db: QueryCreator<Database>, value: ParamOf<StoredToken>) =>
  db
    .insertInto('one_time_tokens')
    .values({
      id: sql`gen_random_uuid()`,
      user_id: value('user_id'),
      token_type: value('token_type'),
      token_hash: value('token_hash'),
      relates_to: value('relates_to'),
      created_at: value('now'),
      updated_at: value('now'),
    })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'token_type']).doUpdateSet((of) => ({
        token_hash: of.ref('excluded.token_hash'),
        relates_to: of.ref('excluded.relates_to'),
        created_at: of.ref('excluded.created_at'),
        updated_at: of.ref('excluded.updated_at'),
      })),
    )
    .returning('id')

/** The expiry of the token in the CTE `put`, with no failed attempts. */
const expiryUpsert = (
  db: QueryCreator<Database & { put: { id: string } }>,
  value: ParamOf<StoredToken>,
) =>
  db
    .insertInto('postern_one_time_tokens')
    .columns(['token_id', 'expires_at', 'failed_attempts', 'purpose'])
    .expression((eb) =>
      eb
        .selectFrom('put')
        .select([
          'put.id as token_id',
          sql<Date>`${value('expires_at')}::timestamptz`.as('expires_at'),
          sql<number>`0`.as('failed_attempts'),
          sql<TokenPurpose | null>`${value('purpose')}::text`.as('purpose'),
        ]),
    )
    .onConflict((conflict) =>
      conflict.column('token_id').doUpdateSet((eb) => ({
        expires_at: eb.ref('excluded.expires_at'),
        failed_attempts: sql.lit(0),
        purpose: eb.ref('excluded.purpose'),
        made_by: sql.lit(null),
      })),
    )

const storeToken = executePipelined((db, value: ParamOf<StoredToken>) =>
  expiryUpsert(
    db.with('put', (eb) => tokenUpsert(eb, value)),
    value,
  ),
)

const storeMirroredToken = executePipelined((db, value: ParamOf<StoredToken>) =>
  expiryUpsert(
    db.with('put', (eb) => tokenUpsert(eb, value)).with('mirror', (eb) => mirrorToken(eb, value)),
    value,
  ),
)

/** Replaces the user's token of this type. */
export async function upsertToken(db: Db, token: NewToken, now: Date): Promise<void> {
  const store = token.mirror === null ? storeToken : storeMirroredToken
  await store(db, { ...token, now })
}

/** The hashes under which a live link may be stored. */
export interface LinkKey {
  types: readonly TokenType[]
  hashes: readonly string[]
  /** The recipient it must have been sent to, if given. */
  address?: string | undefined
  /** What it must not have been sent for. */
  excluded?: TokenPurpose | undefined
}

/** Consumes the token with one of these hashes; undefined when none is live. */
export function consumeToken(
  trx: Trx,
  { types, hashes, address, excluded }: LinkKey,
  lifetimes: Lifetimes,
  now: Date,
): Promise<TokenRow | undefined> {
  return consumeOneTimeToken(trx, (db) =>
    db
      .deleteFrom('one_time_tokens')
      .where('token_hash', 'in', hashes)
      .where('token_type', 'in', types)
      .where((eb) => isLive(eb, lifetimes, now))
      .$call((query) => (excluded ? query.where((eb) => isNotFor(eb, excluded)) : query))
      .$if(address !== undefined, (query) => query.where('relates_to', '=', address ?? '')),
  )
}

/** Reads the token without consuming it, for pages that only show it. */
export function findToken(
  db: Db,
  { types, hashes, excluded }: LinkKey,
  lifetimes: Lifetimes,
  now: Date,
): Promise<TokenRow | undefined> {
  return db
    .selectFrom('one_time_tokens')
    .select(tokenColumns)
    .where('token_hash', 'in', hashes)
    .where('token_type', 'in', types)
    .where((eb) => isLive(eb, lifetimes, now))
    .$call((query) => (excluded ? query.where((eb) => isNotFor(eb, excluded)) : query))
    .executeTakeFirst()
}

export async function deleteToken(trx: Trx, id: string): Promise<void> {
  await consumeOneTimeToken(trx, (db) => db.deleteFrom('one_time_tokens').where('id', '=', id))
}

/** Deletes the user's tokens, or those of the given types; all of them with the pending changes. */
export async function deleteTokens(db: Db, userId: string, types?: readonly TokenType[]) {
  if (types) {
    await consumeOneTimeToken(db, (of) =>
      of
        .deleteFrom('one_time_tokens')
        .where('user_id', '=', userId)
        .where('token_type', 'in', types),
    )
    return
  }
  await db
    .with('dropped', (eb) =>
      eb.deleteFrom('postern_pending_sign_ups').where('user_id', '=', userId),
    )
    .with('consumed', (eb) =>
      eb
        .deleteFrom('one_time_tokens')
        .where('user_id', '=', userId)
        .returning(['user_id', 'token_type']),
    )
    .with('cleared', (eb) => clearConsumed(eb))
    .selectFrom('consumed')
    .select('consumed.token_type')
    .execute()
}

type Deletion = ReturnType<typeof deletion>
const deletion = (db: QueryCreator<Database>) => db.deleteFrom('one_time_tokens')

/** Deletes and returns the token, and clears GoTrue's column. */
export function consumeOneTimeToken(
  db: Db,
  remove: (db: QueryCreator<Database>) => Deletion,
): Promise<TokenRow | undefined> {
  return db
    .with('consumed', (eb) => remove(eb).returning(tokenColumns))
    .with('cleared', (eb) => clearConsumed(eb))
    .selectFrom('consumed')
    .select(tokenColumns)
    .executeTakeFirst()
}

export type { TokenPurpose } from '../tables/tokens.ts'
export type { TokenType } from '../tables/users.ts'
