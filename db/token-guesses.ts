/** A guess at a code: the same statements and as many writes, whether or not a code went to the address. */
import { type Generated, type QueryCreator, sql } from 'kysely'

import type { Database, Trx } from './database.ts'
import { type LinkKey, type TokenRow, tokenColumns } from './one-time-tokens.ts'
import { isLive, type Lifetimes, maxFailedAttempts } from './token-life.ts'
import type { TokenType } from './user-tokens.ts'
import { lockEach } from './wanted-ids.ts'

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
  lifetimes: Lifetimes
}

/**
 * Counts one guess against the live tokens of an address and returns them, their owners locked; without any, a decoy is
 * locked and written. Counting before comparing is what keeps racing guesses within the bound. A token that was sent to
 * somebody who is not locked, because it came after the lock, may go at any moment: it is left for the next guess.
 */
export async function countTokenGuess(
  trx: Trx,
  types: readonly TokenType[],
  at: GuessedAt,
  now: Date,
): Promise<TokenRow[]> {
  const { address, decoySlot, lifetimes } = at
  const owners = await lockOwnersAt(trx, types, at, now)
  return trx
    .with('live', (cte) =>
      cte
        .selectFrom('one_time_tokens')
        .select(tokenColumns)
        .where('relates_to', '=', address)
        .where('token_type', 'in', types)
        .where(sql<boolean>`user_id = any(${owners}::uuid[])`)
        .where((eb) => isLive(eb, lifetimes, now)),
    )
    .with('counted', (cte) =>
      cte
        .insertInto('postern_one_time_tokens')
        .columns(['token_id', 'failed_attempts'])
        .expression((eb) =>
          eb.selectFrom('live').select(['live.id as token_id', sql<number>`1`.as('tries')]),
        )
        .onConflict((conflict) =>
          conflict
            .column('token_id')
            .doUpdateSet({ failed_attempts: sql`postern_one_time_tokens.failed_attempts + 1` })
            .where('postern_one_time_tokens.failed_attempts', '<', maxFailedAttempts),
        )
        .returning('token_id as id'),
    )
    .with('decoy', (cte) =>
      cte
        .updateTable('postern_decoy_tokens')
        .set({ failed_attempts: sql`failed_attempts + 1` })
        .where('slot', '=', decoySlot)
        .where((eb) => eb.not(eb.exists(eb.selectFrom('counted').select('counted.id')))),
    )
    .selectFrom('live')
    .innerJoin('counted', 'counted.id', 'live.id')
    .select(['live.id', 'live.user_id', 'live.token_type', 'live.token_hash', 'live.relates_to'])
    .execute()
}

/**
 * Locks the people whose live tokens went to this address, before anything touches the tokens: every transaction takes
 * the person first and the token second, so that none waits for another in a circle. Without any, a decoy is locked.
 * Returns their ids.
 */
async function lockOwnersAt(
  trx: Trx,
  types: readonly TokenType[],
  { address, decoySlot, lifetimes }: GuessedAt,
  now: Date,
): Promise<string[]> {
  const sentTo = { types, column: 'relates_to', values: [address] } as const
  const rows = await trx
    .with('owners', (cte) => selectOwners(cte, sentTo, lifetimes, now))
    .with('decoy', (cte) =>
      cte
        .selectFrom('postern_decoy_tokens')
        .select(sql<string | null>`null::uuid`.as('id'))
        .where('slot', '=', decoySlot)
        .where((eb) => eb.not(eb.exists(eb.selectFrom('owners').select('owners.id'))))
        .forUpdate(),
    )
    .selectFrom('owners')
    .select(sql<string | null>`owners.id`.as('id'))
    .unionAll((eb) => eb.selectFrom('decoy').select('decoy.id'))
    .execute()
  return rows.flatMap(({ id }) => id ?? [])
}

/** Locks the person whose live token has this hash, for the same reason. */
export async function lockOwnerOfLink(
  trx: Trx,
  { types, hashes }: LinkKey,
  lifetimes: Lifetimes,
  now: Date,
): Promise<void> {
  const link = { types, column: 'token_hash', values: hashes } as const
  await selectOwners(trx, link, lifetimes, now).execute()
}

interface Wanted {
  types: readonly TokenType[]
  column: 'token_hash' | 'relates_to'
  values: readonly string[]
}

function selectOwners(
  db: Pick<QueryCreator<Database>, 'selectFrom'>,
  { types, column, values }: Wanted,
  lifetimes: Lifetimes,
  now: Date,
) {
  const owners = db
    .selectFrom('one_time_tokens')
    .select('user_id as id')
    .distinct()
    .where(column, 'in', values)
    .where('token_type', 'in', types)
    .where((of) => isLive(of, lifetimes, now))
    .orderBy('user_id')
  return lockEach(db, owners.as('wanted'))
}
