import { type Generated, sql } from 'kysely'

import type { Db, Trx } from './database.ts'
import { preparedWrite, type ValueOf } from './prepared-statement.ts'

export const tokenTypes = [
  'confirmation_token',
  'reauthentication_token',
  'recovery_token',
  'email_change_token_new',
  'email_change_token_current',
  'phone_change_token',
] as const

/** What a token is good for: GoTrue's enum, one live token per person and type. */
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

export const tokenColumns = ['id', 'user_id', 'token_type', 'token_hash', 'relates_to'] as const

const putRow = preparedWrite((db, value: ValueOf<NewToken & { now: Date }>) =>
  db
    .insertInto('one_time_tokens')
    .values({
      id: sql`gen_random_uuid()`,
      user_id: value('user_id'),
      token_type: value('token_type'),
      token_hash: value('token_hash'),
      relates_to: value('relates_to'),
      expires_at: value('expires_at'),
      created_at: value('now'),
      updated_at: value('now'),
    })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'token_type']).doUpdateSet((eb) => ({
        token_hash: eb.ref('excluded.token_hash'),
        relates_to: eb.ref('excluded.relates_to'),
        expires_at: eb.ref('excluded.expires_at'),
        failed_attempts: sql.lit(0),
        created_at: eb.ref('excluded.created_at'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    ),
)

/** Replaces the token of this type that the person may have. */
export async function putToken(db: Db, token: NewToken, now: Date): Promise<void> {
  await putRow(db, { ...token, now })
}

/** Spends the token with this hash, and of this address if one is given; undefined when there is none that is live. */
export function takeToken(
  trx: Trx,
  types: readonly TokenType[],
  { tokenHash, address }: { tokenHash: string; address?: string | undefined },
  now: Date,
): Promise<TokenRow | undefined> {
  return trx
    .deleteFrom('one_time_tokens')
    .where('token_hash', '=', tokenHash)
    .where('token_type', 'in', types)
    .where('expires_at', '>', now)
    .where('failed_attempts', '<', maxFailedAttempts)
    .$if(address !== undefined, (query) => query.where('relates_to', '=', address ?? ''))
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

export async function deleteToken(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('one_time_tokens').where('id', '=', id).execute()
}

/** Voids the person's tokens, or those of the given types; with all of them what waits for one. */
export async function deleteTokens(db: Db, userId: string, types?: readonly TokenType[]) {
  if (types) {
    await db
      .deleteFrom('one_time_tokens')
      .where('user_id', '=', userId)
      .where('token_type', 'in', types)
      .execute()
    return
  }
  await db
    .with('dropped', (eb) =>
      eb.deleteFrom('postern_pending_sign_ups').where('user_id', '=', userId),
    )
    .deleteFrom('one_time_tokens')
    .where('user_id', '=', userId)
    .execute()
}
