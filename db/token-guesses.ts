/** A guess at a code: the same statements and as many writes, whether or not a code went to the address. */
import { type Generated, type QueryCreator, sql } from 'kysely'

import type { Database, Trx } from './database.ts'
import {
  maxFailedAttempts,
  type TokenRow,
  type TokenType,
  tokenColumns,
} from './one-time-tokens.ts'

/** Rows that are written in place of a token that is not there. */
export interface DecoyTokensTable {
  slot: number
  failed_attempts: Generated<string>
}

/** How many of them there are, numbered from 0. */
export const decoyTokens = 1024

/** Where a code is tried. */
export interface GuessedAt {
  /** In its stored form. */
  address: string
  /** The decoy of this address, for when no token went there. */
  decoySlot: number
}

/**
 * Counts one guess against the live tokens of an address and returns them, locked; without any, a decoy is written.
 * Counting before comparing is what keeps racing guesses within the bound.
 */
export function countTokenGuess(
  trx: Trx,
  types: readonly TokenType[],
  { address, decoySlot }: GuessedAt,
  now: Date,
): Promise<TokenRow[]> {
  return trx
    .with('counted', (cte) =>
      cte
        .updateTable('one_time_tokens')
        .set({ failed_attempts: sql`failed_attempts + 1` })
        .where('relates_to', '=', address)
        .where('token_type', 'in', types)
        .where('expires_at', '>', now)
        .where('failed_attempts', '<', maxFailedAttempts)
        .returning(tokenColumns),
    )
    .with('decoy', (cte) =>
      cte
        .updateTable('postern_decoy_tokens')
        .set({ failed_attempts: sql`failed_attempts + 1` })
        .where('slot', '=', decoySlot)
        .where((eb) => eb.not(eb.exists(eb.selectFrom('counted').select('counted.id')))),
    )
    .selectFrom('counted')
    .select(tokenColumns)
    .execute()
}

/**
 * Locks the people whose live tokens went to this address, before anything touches the tokens: every transaction takes
 * the person first and the token second, so that none waits for another in a circle. Without any, a decoy is locked.
 */
export async function lockOwnersAt(
  trx: Trx,
  types: readonly TokenType[],
  { address, decoySlot }: GuessedAt,
  now: Date,
): Promise<void> {
  await trx
    .with('owners', (cte) => selectOwners(cte, types, 'relates_to', address, now))
    .with('decoy', (cte) =>
      cte
        .selectFrom('postern_decoy_tokens')
        .select(sql<string>`slot::text`.as('id'))
        .where('slot', '=', decoySlot)
        .where((eb) => eb.not(eb.exists(eb.selectFrom('owners').select('owners.id'))))
        .forUpdate(),
    )
    .selectFrom('owners')
    .select(sql<string>`id::text`.as('id'))
    .unionAll((eb) => eb.selectFrom('decoy').select('decoy.id'))
    .execute()
}

/** Locks the person whose live token has this hash, for the same reason. */
export async function lockOwnerOfLink(
  trx: Trx,
  types: readonly TokenType[],
  tokenHash: string,
  now: Date,
): Promise<void> {
  await selectOwners(trx, types, 'token_hash', tokenHash, now).execute()
}

function selectOwners(
  db: Pick<QueryCreator<Database>, 'selectFrom'>,
  types: readonly TokenType[],
  column: 'token_hash' | 'relates_to',
  value: string,
  now: Date,
) {
  return db
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
}
