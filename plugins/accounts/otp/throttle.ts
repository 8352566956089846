/**
 * The one gate before every guess at an account. A guess is counted before it is tried, so that of many at once no more
 * are tried than one after the other. After a few, from whatever addresses they came, each further one costs a wait that
 * doubles. Unknown accounts are slowed alike, so that waiting tells nothing.
 */
import { createHmac, type KeyObject } from 'node:crypto'

import type { Db } from '../../../db/database.ts'
import type { AddressOwner, DeviceOwner } from '../../../db/known-devices.ts'
import {
  type CountedGuess,
  countGuess,
  countSignIn,
  findBlock,
  forgetGuesses,
  type GuessCount,
  uncountGuess,
} from '../../../db/throttles.ts'
import type { UserRecord } from '../../../db/users.ts'
import { tooManyAttempts } from '../../../errors.ts'
import type { Client } from '../../client-ip.ts'
import { type DevicePolicy, deviceHash } from './known-devices.ts'

/** What is guessed at; each is counted apart. */
export type GuessKind = 'password' | 'code' | 'nonce' | 'factor'

/** From where, and whose device that may be. */
type Device<Owner> = Owner & { client: Client }

export interface Guess<Owner extends DeviceOwner = DeviceOwner> {
  kind: GuessKind
  /** An address in its stored form or a person's id, known or not. */
  account: string
  /**
   * Devices that the person signed in from have a count of their own, so that strangers do not keep them out. Not where
   * whoever guesses has passed the first proof: they can make as many devices known as they like. Without it, all guesses
   * at the account are counted together.
   */
  device?: Device<Owner>
}

export interface GatePolicy extends DevicePolicy {
  /** Of the hashes under which the guesses at an account are counted. */
  gateKeys: Record<GuessKind, KeyObject>
}

/** A guess that was let in. */
export interface Attempt {
  /** It was right: its count is given back. A known device is forgiven what it got wrong before, too. */
  succeeded: (db: Db) => Promise<void>
  /** Tries it, and gives its count back when it was right, or when trying it failed by itself. */
  check: <T>(db: Db, act: () => Promise<T>, isRight: (outcome: T) => boolean) => Promise<T>
}

/** So many are tried at once. */
const freeGuesses: Record<GuessKind, number> = {
  /** A person who mistypes is not slowed; a list of passwords is. */
  password: 10,
  /** Two codes that somebody may use up; each code has a bound of its own besides. */
  code: 20,
  nonce: 20,
  factor: 10,
}
const longestBlockSeconds = 300
const forgottenAfterMs = 3_600_000

/** Throws over_request_rate_limit while the account has to wait; else the guess is counted and may be tried. */
export async function gate(house: GatePolicy, db: Db, guess: Guess, now: Date): Promise<Attempt> {
  const count = countOf(house, guess, now)
  return admit(db, count, await countGuess(db, count, now), now)
}

/** The gate, together with the look-up of whom the password may sign in. */
export async function gateSignIn(
  house: GatePolicy,
  db: Db,
  { account, device }: { account: string; device: Device<AddressOwner> },
  now: Date,
): Promise<{ attempt: Attempt; user: UserRecord | undefined }> {
  const count = countOf(house, { kind: 'password', account, device }, now)
  const { user, ...counted } = await countSignIn(db, count, device, now)
  return { attempt: await admit(db, count, counted, now), user }
}

function countOf(house: GatePolicy, { kind, account, device }: Guess, now: Date): GuessCount {
  const free = freeGuesses[kind]
  const keyOf = (what: string) =>
    createHmac('sha256', house.gateKeys[kind]).update(what).digest('base64url')
  const hash = device && deviceHash(house, device.client)
  return {
    accountKey: keyOf(account),
    device: device && hash ? { key: keyOf(`${account}\n${hash}`), hash, owner: device } : undefined,
    free,
    longestBlockSeconds,
    forgetBefore: new Date(now.getTime() - forgottenAfterMs),
  }
}

async function admit(
  db: Db,
  { accountKey, device }: GuessCount,
  { isCounted, isKnownDevice, blockedUntil }: CountedGuess,
  now: Date,
): Promise<Attempt> {
  const key = device && isKnownDevice ? device.key : accountKey
  if (!isCounted) throw tooManyAttempts(secondsUntil(await findBlock(db, key), now))
  const giveBack = (handle: Db) => uncountGuess(handle, key, blockedUntil)
  const succeeded = isKnownDevice ? (handle: Db) => forgetGuesses(handle, key) : giveBack
  return {
    succeeded,
    async check(handle, act, isRight) {
      const outcome = await act().catch(async (error) => {
        await giveBack(handle)
        throw error
      })
      if (isRight(outcome)) await succeeded(handle)
      return outcome
    },
  }
}

/** At least one: a right guess may have lifted the block since it was counted. */
function secondsUntil(time: Date | null, now: Date): number {
  return Math.max(1, Math.ceil(((time?.getTime() ?? 0) - now.getTime()) / 1000))
}
