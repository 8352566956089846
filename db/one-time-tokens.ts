import { type Generated, sql } from 'kysely'

import type { Db, Trx } from './database.ts'

export const tokenTypes = [
  'confirmation_token',
  'reauthentication_token',
  'recovery_token',
  'email_change_token_new',
  'email_change_token_current',
  'phone_change_token',
] as const

/** What a token is good for: the peer's enum, one live token per person and type. */
export type TokenType = (typeof tokenTypes)[number]

export interface OneTimeTokensTable {
  id: string
  user_id: string
  token_type: TokenType
  token_hash: string
  relates_to: string
  created_at: Date
  updated_at: Date
  expires_at: Date | null
  failed_attempts: Generated<number>
}

/** After this many wrong codes the token is void (RFC 6238 §5.2 asks for such a bound). */
export const maxFailedAttempts = 10

export interface NewToken {
  user_id: string
  token_type: TokenType
  token_hash: string
  /** The address the code was sent to, in its stored form. */
  relates_to: string
  expires_at: Date
}

export interface TokenRow {
  id: string
  user_id: string
  token_type: TokenType
  token_hash: string
  relates_to: string
}

const tokenColumns = ['id', 'user_id', 'token_type', 'token_hash', 'relates_to'] as const

/** Replaces the token of this type that the person may have. */
export async function putToken(db: Db, token: NewToken, now: Date): Promise<void> {
  await db
    .insertInto('one_time_tokens')
    .values({ ...token, id: sql`gen_random_uuid()`, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'token_type']).doUpdateSet({
        token_hash: token.token_hash,
        relates_to: token.relates_to,
        expires_at: token.expires_at,
        failed_attempts: 0,
        created_at: now,
        updated_at: now,
      }),
    )
    .execute()
}

/**
 * Locks the people whose live tokens are named by hash or by address, before anything touches the tokens:
 * every transaction takes the person first and the token second, so that none waits for another in a circle.
 */
export async function lockTokenOwners(
  trx: Trx,
  types: readonly TokenType[],
  by: { tokenHash: string } | { address: string },
  now: Date,
): Promise<void> {
  const [column, value] =
    'tokenHash' in by
      ? (['token_hash', by.tokenHash] as const)
      : (['relates_to', by.address] as const)
  await trx
    .selectFrom('users')
    .select('users.id')
    .where('users.id', 'in', (eb) =>
      eb
        .selectFrom('one_time_tokens')
        .select('user_id')
        .where(column, '=', value)
        .where('token_type', 'in', types)
        .where('expires_at', '>', now),
    )
    .orderBy('users.id')
    .forUpdate()
    .execute()
}

/** Spends the token with this hash; undefined when there is none that is live. */
export function takeToken(
  trx: Trx,
  types: readonly TokenType[],
  tokenHash: string,
  now: Date,
): Promise<TokenRow | undefined> {
  return trx
    .deleteFrom('one_time_tokens')
    .where('token_hash', '=', tokenHash)
    .where('token_type', 'in', types)
    .where('expires_at', '>', now)
    .where('failed_attempts', '<', maxFailedAttempts)
    .returning(tokenColumns)
    .executeTakeFirst()
}

/** Reads the token with this hash without spending it: for pages that only show it. */
export function findToken(
  db: Db,
  types: readonly TokenType[],
  tokenHash: string,
  now: Date,
): Promise<TokenRow | undefined> {
  return db
    .selectFrom('one_time_tokens')
    .select(tokenColumns)
    .where('token_hash', '=', tokenHash)
    .where('token_type', 'in', types)
    .where('expires_at', '>', now)
    .where('failed_attempts', '<', maxFailedAttempts)
    .executeTakeFirst()
}

/**
 * Counts one guess against the live tokens of an address and returns them, locked.
 * Counting before comparing is what keeps racing guesses within the bound.
 */
export function countGuess(
  trx: Trx,
  types: readonly TokenType[],
  address: string,
  now: Date,
): Promise<TokenRow[]> {
  return trx
    .updateTable('one_time_tokens')
    .set({ failed_attempts: sql`failed_attempts + 1` })
    .where('relates_to', '=', address)
    .where('token_type', 'in', types)
    .where('expires_at', '>', now)
    .where('failed_attempts', '<', maxFailedAttempts)
    .returning(tokenColumns)
    .execute()
}

export async function deleteToken(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('one_time_tokens').where('id', '=', id).execute()
}

export async function deleteTokens(db: Db, userId: string, types?: readonly TokenType[]) {
  await db
    .deleteFrom('one_time_tokens')
    .where('user_id', '=', userId)
    .$if(types !== undefined, (qb) => qb.where('token_type', 'in', types ?? []))
    .execute()
}
