/** The one place where a phone number becomes proven. */
import type { Trx } from '../../../db/database.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { confirmPhone } from '../../../db/user-edits.ts'
import type { UserChange } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { reload } from './lock.ts'

/** What changes beside the number being proven. */
export interface PhoneProof {
  /** Columns that change with it: the number, where it only now becomes the account's. They win over those of the proof. */
  columns?: UserChange
  /** Links and codes that are on their way open nothing any more. */
  voidsTokens?: boolean
  /** user_metadata tells of the proof: after a sign-up, not after a change of the number. */
  inMetadata: boolean
}

/** Keeps the moment of an earlier proof. Returns the person as they are then. */
export async function provePhone(
  { events }: House<'events'>,
  trx: Trx,
  userId: string,
  { columns, voidsTokens, inMetadata }: PhoneProof,
  now: Date,
): Promise<UserRecord> {
  if (voidsTokens) await deleteTokens(trx, userId)
  const user = inMetadata ? { phone_verified: true } : undefined
  await confirmPhone(trx, userId, { columns, user }, now)
  const person = await reload(trx, userId)
  const { phone } = person
  if (phone && person.phone_confirmed_at?.getTime() === now.getTime()) {
    await events.record(trx, 'phone.confirmed', userId, { phone }, now)
  }
  return person
}
