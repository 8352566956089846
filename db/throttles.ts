/** Guesses at what people sign in with: counted by the statement that lets them in, before they are tried. */
import { type Nullable, sql } from 'kysely'

import type { Db } from './database.ts'
import { counting, type GuessValues } from './guess-counting.ts'
import {
  type AddressKind,
  type AddressOwner,
  addressKindOf,
  type DeviceOwner,
  type OwnerKind,
  ownerKindOf,
  ownerValues,
  selectOwner,
} from './known-devices.ts'
import { preparedOneRow, preparedRow, preparedWrite, type ValueOf } from './prepared-statement.ts'
import { userColumns } from './user-columns.ts'
import { type UserRecord, userRelations } from './users.ts'

/** The key is a keyed hash, known account or not. */
export interface ThrottlesTable {
  key: string
  failures: number
  blocked_until: Date | null
  updated_at: Date
}

export interface GuessCount {
  accountKey: string
  /** Where this device is known, the guess is counted under a key of its own. */
  device: { key: string; hash: string; owner: DeviceOwner } | undefined
  /** From so many on, each guess blocks the key for longer. */
  free: number
  longestBlockSeconds: number
  /** Guesses are forgotten when the last of them was at or before this. */
  forgetBefore: Date
}

export interface CountedGuess {
  isKnownDevice: boolean
  /** False while the key is blocked: then nothing was counted. */
  isCounted: boolean
  /** The block that this guess has set. */
  blockedUntil: Date | null
}

/** Counts a guess, unless its key is blocked. */
export function countGuess(db: Db, guess: GuessCount, now: Date): Promise<CountedGuess> {
  const { device } = guess
  const owner = device ? ownerValues(device.owner) : { owner: null, aud: null }
  const count = guessCounts[device ? ownerKindOf(device.owner) : 'userId']
  return count(db, { ...valuesFor(guess), ...owner, now })
}

/** Counts a guess and looks up whom it may sign in. */
export async function countSignIn(
  db: Db,
  guess: GuessCount,
  owner: AddressOwner,
  now: Date,
): Promise<CountedGuess & { user: UserRecord | undefined }> {
  const values = { ...valuesFor(guess), ...ownerValues(owner), now }
  const row = await signInCounts[addressKindOf(owner)](db, values)
  const { isKnownDevice, isCounted, blockedUntil, ...person } = row
  return { isKnownDevice, isCounted, blockedUntil, user: personIn(person) }
}

const findBlocked = preparedRow((db, value: ValueOf<{ key: string }>) =>
  db.selectFrom('postern_throttles').select('blocked_until').where('key', '=', value('key')),
)

/** The end of the block of this key, if it has one. */
export async function findBlock(db: Db, key: string): Promise<Date | null> {
  return (await findBlocked(db, { key }))?.blocked_until ?? null
}

const uncount = preparedWrite((db, value: ValueOf<{ key: string; blockedUntil: Date | null }>) =>
  db
    .updateTable('postern_throttles')
    .set({
      failures: sql`greatest(failures - 1, 0)`,
      blocked_until: sql`nullif(blocked_until, ${value('blockedUntil')}::timestamptz)`,
    })
    .where('key', '=', value('key')),
)

/** Takes one guess out of the count, and lifts the block that it had set. */
export async function uncountGuess(db: Db, key: string, blockedUntil: Date | null): Promise<void> {
  await uncount(db, { key, blockedUntil })
}

const forget = preparedWrite((db, value: ValueOf<{ key: string }>) =>
  db.deleteFrom('postern_throttles').where('key', '=', value('key')),
)

export async function forgetGuesses(db: Db, key: string): Promise<void> {
  await forget(db, { key })
}

function valuesFor({ device, ...guess }: GuessCount) {
  return { ...guess, deviceKey: device?.key ?? null, deviceHash: device?.hash ?? null }
}

const guessCounts = {
  email: guessCount('email'),
  phone: guessCount('phone'),
  userId: guessCount('userId'),
}

function guessCount(kind: OwnerKind) {
  return preparedOneRow((db, value: ValueOf<GuessValues>) =>
    counting(db, kind, value)
      .selectFrom('guess')
      .leftJoin('counted', (join) => join.onTrue())
      .select(['guess.is_known as isKnownDevice', 'counted.blocked_until as blockedUntil'])
      .select(sql<boolean>`counted.key is not null`.as('isCounted')),
  )
}

const signInCounts = { email: signInCount('email'), phone: signInCount('phone') }

function signInCount(kind: AddressKind) {
  return preparedOneRow((db, value: ValueOf<GuessValues>) =>
    counting(db, kind, value)
      .selectFrom('guess')
      .leftJoin('counted', (join) => join.onTrue())
      .leftJoin(
        selectOwner(db, kind, value).select(userColumns).select(userRelations).as('person'),
        (join) => join.onTrue(),
      )
      .selectAll('person')
      .select(['guess.is_known as isKnownDevice', 'counted.blocked_until as blockedUntil'])
      .select(sql<boolean>`counted.key is not null`.as('isCounted')),
  )
}

/** Of a row with or without a person in it. */
function personIn({
  id,
  is_sso_user,
  is_anonymous,
  identities,
  factors,
  ...rest
}: Nullable<UserRecord>): UserRecord | undefined {
  if (id === null || is_sso_user === null || is_anonymous === null) return undefined
  return {
    ...rest,
    id,
    is_sso_user,
    is_anonymous,
    identities: identities ?? [],
    factors: factors ?? [],
  }
}
