/**
 * Throttles every attempt at an account. An attempt is counted before it is verified, so that concurrent ones cannot
 * exceed the limit. After the first few, from any address, each further one doubles the waiting time. Unknown accounts
 * are throttled too, so that waiting reveals nothing.
 */
import { createHmac } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import {
  type AttemptCount,
  type CountedAttempt,
  countAttempt,
  countSignIn,
  findBlock,
  resetAllAttempts,
  resetAttempts,
  uncountAttempt,
} from '../../../db/limits/throttles.ts'
import type { DeviceOwner, IdentifierOwner } from '../../../db/sessions/devices.ts'
import { findUsername } from '../../../db/usernames/usernames.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { ClientInfo } from '../../../plugins/http/client-info/index.ts'
import { type ApiError, tooManyAttempts, tooManyAttemptsToday } from '../../../schemas/errors.ts'

/** The types of secrets; each is counted separately. */
type AttemptKind = 'password' | 'code' | 'nonce' | 'factor'

/** The client, and the owner of a known device. */
type Device<Owner> = Owner & { clientInfo: ClientInfo }

interface VerificationAttempt<Owner extends DeviceOwner = DeviceOwner> {
  kind: AttemptKind
  /** A normalized identifier or a user id, known or not. */
  account: string
  /**
   * Known devices are counted separately, so that unauthenticated clients cannot lock the user out. Not after a first
   * factor: an attacker who has it can make any number of devices known. Without it, all attempts at the account count
   * together.
   */
  device?: Device<Owner>
}

/** An attempt that was not throttled. */
export interface Attempt {
  /** Failures of the day, this attempt included unless it succeeds. */
  dayFailures: number
  /** Further attempts are blocked today unless this one succeeds. */
  isLastOfDay: boolean
  /** Call after a successful attempt: releases its count, and resets the failures of a known device. */
  succeeded: (db: Db) => Promise<void>
  /** Verifies the secret, and releases the count when it was correct, or when the verification failed with an error. */
  check: <T>(db: Db, act: () => Promise<T>, isRight: (outcome: T) => boolean) => Promise<T>
}

/** Attempts before the first waiting time. */
const freeAttempts: Record<AttemptKind, number> = {
  /** Tolerates typing errors, but slows down password lists. */
  password: 10,
  /** Two codes with all their attempts; each code has its own limit too. */
  code: 20,
  nonce: 20,
  factor: 10,
}
const maxBlockSeconds = 300
/** The limit of NIST SP 800-63B §5.2.2. */
const maxFailuresADay = 100
const dayMs = 86_400_000
const resetAfterMs = 3_600_000

/** Throws over_request_rate_limit while the account is blocked; otherwise the attempt is counted. */
export async function throttleAttempt(
  app: FastifyInstance,
  db: Db,
  target: VerificationAttempt,
  now: Date,
): Promise<Attempt> {
  const count = toAttemptCount(app, target, now)
  return toAttempt(db, count, await countAttempt(db, count, now), now)
}

/** Throttles a password attempt and looks its user up in one round trip. */
export async function throttleSignIn(
  app: FastifyInstance,
  db: Db,
  { account, device }: { account: string; device: Device<IdentifierOwner> },
  now: Date,
): Promise<{ attempt: Attempt; user: UserRecord | undefined }> {
  const count = toAttemptCount(app, { kind: 'password', account, device }, now)
  const { user, ...counted } = await countSignIn(db, count, device, now)
  return { attempt: await toAttempt(db, count, counted, now), user }
}

/**
 * The account of attempts by username. They count apart from those by address: with a common count, the limit of one
 * would tell whose name or address the other is.
 */
export const usernameAccount = (username: string): string => `username ${username}`

/** The keys of a user's attempts, apart from those of known devices. */
const listAttemptAccounts = (
  { id, email, phone }: Pick<UserRecord, 'id' | 'email' | 'phone'>,
  name: string | undefined,
) => ({
  password: [email, phone, name, `current password of ${id}`, `addresses wanted by ${id}`],
  code: [email, phone, name],
  nonce: [id],
  factor: [id, `recovery code of ${id}`],
})

/** After an email link was opened: earlier failures no longer block the user. */
export async function resetFailures(
  app: FastifyInstance,
  trx: Trx,
  user: Pick<UserRecord, 'id' | 'email' | 'phone'>,
): Promise<void> {
  const isNamed = app.config.AUTH_USERNAMES_ENABLED
  const { username } = (isNamed && (await findUsername(trx, user.id))) || {}
  const accounts = listAttemptAccounts(user, username && usernameAccount(username))
  const kinds: AttemptKind[] = ['password', 'code', 'nonce', 'factor']
  const keys = kinds.flatMap((kind) =>
    accounts[kind].flatMap((account) => (account ? hashAccount(app, kind, account) : [])),
  )
  await resetAllAttempts(trx, { keys })
}

function hashAccount(app: FastifyInstance, kind: AttemptKind, what: string): string {
  return createHmac('sha256', app.otp.attemptKeys[kind]).update(what).digest('base64url')
}

function toAttemptCount(
  app: FastifyInstance,
  { kind, account, device }: VerificationAttempt,
  now: Date,
): AttemptCount {
  const free = freeAttempts[kind]
  const hash = device && deviceHash(app, device.clientInfo)
  return {
    accountKey: hashAccount(app, kind, account),
    device:
      device && hash
        ? { key: hashAccount(app, kind, `${account}\n${hash}`), hash, owner: device }
        : undefined,
    free,
    maxBlockSeconds,
    forgetBefore: new Date(now.getTime() - resetAfterMs),
    maxADay: maxFailuresADay,
    dayBefore: new Date(now.getTime() - dayMs),
  }
}

async function toAttempt(
  db: Db,
  { accountKey, device }: AttemptCount,
  { isCounted, isKnownDevice, blockedUntil, dayFailures }: CountedAttempt,
  now: Date,
): Promise<Attempt> {
  const key = device && isKnownDevice ? device.key : accountKey
  if (!isCounted) throw await blockedBy(db, key, now)
  const release = (handle: Db) => uncountAttempt(handle, key, blockedUntil)
  const succeeded = isKnownDevice ? (handle: Db) => resetAttempts(handle, key) : release
  return {
    dayFailures: dayFailures ?? 0,
    isLastOfDay: dayFailures === maxFailuresADay,
    succeeded,
    async check(handle, act, isRight) {
      const outcome = await act().catch(async (error) => {
        await release(handle)
        throw error
      })
      if (isRight(outcome)) await succeeded(handle)
      return outcome
    },
  }
}

async function blockedBy(db: Db, key: string, now: Date): Promise<ApiError> {
  const block = await findBlock(db, { key, maxADay: maxFailuresADay })
  if (!block?.dayBeganAt) return tooManyAttempts(secondsUntil(block?.blockedUntil ?? null, now))
  const dayEnds = new Date(block.dayBeganAt.getTime() + dayMs)
  return tooManyAttemptsToday(secondsUntil(dayEnds, now))
}

/** At least 1: a successful attempt may have lifted the block since. */
function secondsUntil(time: Date | null, now: Date): number {
  return Math.max(1, Math.ceil(((time?.getTime() ?? 0) - now.getTime()) / 1000))
}

/** Network and user agent: distinguishes the user's device from other clients, but authenticates nothing. */
export function deviceHash(
  app: FastifyInstance,
  { network, userAgent }: Pick<ClientInfo, 'network' | 'userAgent'>,
): string {
  return createHmac('sha256', app.otp.deviceKey)
    .update(`${network}\n${userAgent ?? ''}`)
    .digest('base64url')
}
