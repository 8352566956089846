/** Attempts at a code run the same statements with the same number of writes, whether or not a code was sent. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Trx } from '../core/database.ts'
import { lockEach } from '../core/requested-ids.ts'
import type { TokenPurpose } from '../tables/tokens.ts'
import type { TokenType } from '../tables/users.ts'
import { isLive, isNotFor, type Lifetimes, maxFailedAttempts } from './expiry.ts'
import { type LinkKey, type TokenRow, tokenColumns } from './one-time-tokens.ts'
/** The number of dummy rows, numbered from 0. */
export const dummyTokens = 1024

/** The identifier that a code is tried for. */
export interface AttemptTarget {
  /** In its stored form. */
  address: string
  /** The dummy row of this identifier, used when it has no token. */
  dummySlot: number
  lifetimes: Lifetimes
  /** What the code must not have been sent for. */
  excluded?: TokenPurpose | undefined
}

/**
 * Counts an attempt against the live tokens of an identifier and returns them with their users locked. Without a token,
 * a dummy row is locked and written. Counting before verification bounds concurrent attempts. A token of a user who is
 * not locked, because it was inserted after the lock, is left for the next attempt.
 */
export async function countTokenAttempt(
  trx: Trx,
  types: readonly TokenType[],
  at: AttemptTarget,
  now: Date,
): Promise<TokenRow[]> {
  const { address, dummySlot, lifetimes, excluded } = at
  const owners = await lockOwnersAt(trx, types, at, now)
  return trx
    .with('live', (cte) =>
      cte
        .selectFrom('one_time_tokens')
        .select(tokenColumns)
        .where('relates_to', '=', address)
        .where('token_type', 'in', types)
        .where(sql<boolean>`user_id = any(${owners}::uuid[])`)
        .where((eb) => isLive(eb, lifetimes, now))
        .$call((query) => (excluded ? query.where((eb) => isNotFor(eb, excluded)) : query)),
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
    .with('dummy', (cte) =>
      cte
        .updateTable('postern_decoy_tokens')
        .set({ failed_attempts: sql`failed_attempts + 1` })
        .where('slot', '=', dummySlot)
        .where((eb) => eb.not(eb.exists(eb.selectFrom('counted').select('counted.id')))),
    )
    .selectFrom('live')
    .innerJoin('counted', 'counted.id', 'live.id')
    .select(['live.id', 'live.user_id', 'live.token_type', 'live.token_hash', 'live.relates_to'])
    .execute()
}

/**
 * Locks the users with live tokens for this identifier before the tokens: every transaction locks the user first, to
 * prevent deadlocks. Without a token, a dummy row is locked. Returns their ids.
 */
async function lockOwnersAt(
  trx: Trx,
  types: readonly TokenType[],
  { address, dummySlot, lifetimes, excluded }: AttemptTarget,
  now: Date,
): Promise<string[]> {
  const sentTo = { types, column: 'relates_to', values: [address], excluded } as const
  const rows = await trx
    .with('owners', (cte) => selectOwners(cte, sentTo, lifetimes, now))
    .with('dummy', (cte) =>
      cte
        .selectFrom('postern_decoy_tokens')
        .select(sql<string | null>`null::uuid`.as('id'))
        .where('slot', '=', dummySlot)
        .where((eb) => eb.not(eb.exists(eb.selectFrom('owners').select('owners.id'))))
        .forUpdate(),
    )
    .selectFrom('owners')
    .select(sql<string | null>`owners.id`.as('id'))
    .unionAll((eb) => eb.selectFrom('dummy').select('dummy.id'))
    .execute()
  return rows.flatMap(({ id }) => id ?? [])
}

/** Locks the user whose live token has this hash, for the same reason. */
export async function lockOwnerOfLink(
  trx: Trx,
  { types, hashes, excluded }: LinkKey,
  lifetimes: Lifetimes,
  now: Date,
): Promise<void> {
  const link = { types, column: 'token_hash', values: hashes, excluded } as const
  await selectOwners(trx, link, lifetimes, now).execute()
}

interface AttemptTokens {
  types: readonly TokenType[]
  column: 'token_hash' | 'relates_to'
  values: readonly string[]
  excluded: TokenPurpose | undefined
}

function selectOwners(
  db: Pick<QueryCreator<Database>, 'selectFrom'>,
  { types, column, values, excluded }: AttemptTokens,
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
    .$call((query) => (excluded ? query.where((of) => isNotFor(of, excluded)) : query))
    .orderBy('user_id')
  return lockEach(db, owners.as('requested'))
}
