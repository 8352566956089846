/**
 * The username of a sign-up. It is reserved for the address before the address is looked up, and assigned when the
 * sign-up is confirmed: whether a name is available reveals nothing about the address. It is not assigned once another
 * sign-up with the address has removed the password of the first one: the name may be that of either user.
 */
import { createHmac } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { lockName } from '../../db/core/locks.ts'
import {
  claimReservedUsername,
  countUnverifiedUsernames,
  deleteReplaceable,
  deleteReservation,
  insertUsername,
  type Username,
} from '../../db/usernames/usernames.ts'
import { tooManyUnverifiedUsernames, usernameTaken } from '../../schemas/errors.ts'
import { readNewUsername } from './rules.ts'

/** The username of a sign-up; undefined without one, and where usernames are disabled, as at GoTrue. */
export function readSignUpUsername(
  { usernames: { rules } }: FastifyInstance,
  input: string | undefined,
): Username | undefined {
  return rules && input ? readNewUsername(rules, input) : undefined
}

/** A sign-up, and the client that sent it. */
interface NamedSignUp {
  name: Username | undefined
  address: string
  network: string
}

/**
 * Replaces an earlier reservation of the address: a sign-up without a name removes that of another sign-up, which may be
 * another user's. Throws username_taken and over_request_rate_limit.
 */
export async function reserveUsername(
  app: FastifyInstance,
  trx: Trx,
  { name, address, network }: NamedSignUp,
  now: Date,
): Promise<void> {
  if (!app.usernames.rules) return
  await deleteReservation(trx, address)
  if (!name) return
  const counted = await countName(app, trx, network, now)
  await deleteReplaceable(trx, name, null, now)
  const expires_at = new Date(now.getTime() + unverifiedMs)
  const row = { ...name, reserved_for: address, network: counted, assigned_at: now, expires_at }
  if (!(await insertUsername(trx, row))) throw usernameTaken()
}

/** The address of a sign-up that was confirmed: verified by a link or code, or assumed to be right. */
interface ConfirmedAddress {
  address: string | null
  isVerified: boolean
}

/** Assigns the reserved name to the user whose sign-up with this address was just confirmed. */
export async function assignReservedUsername(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  { address: reservedFor, isVerified }: ConfirmedAddress,
  now: Date,
): Promise<void> {
  if (!app.usernames.rules || !reservedFor) return
  await claimReservedUsername(trx, { userId, reservedFor, isVerified, now })
}

/** How long such a name counts. */
const unverifiedMs = 86_400_000

/**
 * Counts a name of a user whose address is not verified for its network: a sign-up takes any address, so one client could
 * hold every name. Such names are removed at the first verification of the address, whose holder may be another user.
 * Returns what is stored as the network of the name. The network stays locked until the transaction ends, so that
 * concurrent requests cannot exceed the limit. Throws over_request_rate_limit.
 */
export async function countName(
  { config, usernames: { networkKey } }: FastifyInstance,
  trx: Trx,
  network: string,
  now: Date,
): Promise<string> {
  const hash = createHmac('sha256', networkKey).update(network).digest('base64url')
  const limit = config.AUTH_USERNAMES_MAX_UNVERIFIED
  if (limit === 0) return hash
  await lockName(trx, `usernames of ${hash}`)
  const since = new Date(now.getTime() - unverifiedMs)
  const { count, oldest } = await countUnverifiedUsernames(trx, hash, since)
  if (Number(count) < limit || !oldest) return hash
  const wait = oldest.getTime() + unverifiedMs - now.getTime()
  throw tooManyUnverifiedUsernames(Math.max(1, Math.ceil(wait / 1000)))
}
