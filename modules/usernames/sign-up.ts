/**
 * The username of a sign-up. It is reserved for the address before the address is looked up, and assigned when the
 * sign-up is confirmed: whether a name is available reveals nothing about the address.
 */
import type { Trx } from '../../db/core/database.ts'
import {
  claimReservedUsername,
  deleteReplaceable,
  deleteReservation,
  insertUsername,
  type Username,
} from '../../db/usernames/usernames.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { usernameTaken } from '../../schemas/errors.ts'
import { readNewUsername } from './rules.ts'

/** The maximum time between the last message of a sign-up and its confirmation. */
const reservationMs = 86_400_000

/** The username of a sign-up; undefined without one, and where usernames are disabled, as at GoTrue. */
export function readSignUpUsername(
  { rules }: Pick<Deps<'usernames'>['usernames'], 'rules'>,
  input: string | undefined,
): Username | undefined {
  return rules && input ? readNewUsername(rules, input) : undefined
}

/** Replaces an earlier reservation of the address. Throws username_taken. */
export async function reserveUsername(
  trx: Trx,
  name: Username,
  address: string,
  now: Date,
): Promise<void> {
  await deleteReservation(trx, address)
  await deleteReplaceable(trx, name, null, now)
  const expires_at = new Date(now.getTime() + reservationMs)
  const row = { ...name, reserved_for: address, assigned_at: now, expires_at }
  if (!(await insertUsername(trx, row))) throw usernameTaken()
}

/** Assigns the reserved name to the user whose sign-up with this address was just confirmed. */
export async function assignReservedUsername(
  { rules }: Pick<Deps<'usernames'>['usernames'], 'rules'>,
  trx: Trx,
  userId: string,
  address: string | null,
  now: Date,
): Promise<void> {
  if (rules && address) await claimReservedUsername(trx, userId, address, now)
}
