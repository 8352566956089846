/** The only function that confirms a phone number. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { insertAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import { setPhoneConfirmed } from '../../db/users/merge-user.ts'
import type { UserChange } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { reloadUser } from './lock.ts'

/** Effects besides the confirmation. */
interface PhoneVerification {
  /** Columns changed with it, such as a new number; they override those of the confirmation. */
  columns?: UserChange
  /** Deletes pending links and codes. */
  clearTokens?: boolean
  /**
   * Confirmed without verification (AUTH_SMS_AUTOCONFIRM). Beside a verified address, a later verification of the number
   * clears nothing: the cause is `user`.
   */
  assumedBy?: 'autoconfirm' | 'user' | undefined
  /** Set phone_verified in user_metadata: after a sign-up, not after a change of the number. */
  inMetadata: boolean
}

/** Keeps the time of an earlier confirmation. Returns the user after the change. */
export async function verifyPhone(
  { events }: FastifyInstance,
  trx: Trx,
  userId: string,
  { columns, clearTokens, assumedBy, inMetadata }: PhoneVerification,
  now: Date,
): Promise<UserRecord> {
  if (clearTokens) await deleteTokens(trx, userId)
  const user = inMetadata ? { phone_verified: true } : undefined
  await setPhoneConfirmed(trx, userId, { columns, user }, now)
  const updated = await reloadUser(trx, userId)
  const { phone } = updated
  if (assumedBy && phone) await insertAutoconfirmed(trx, userId, phone, now, assumedBy)
  if (phone && updated.phone_confirmed_at?.getTime() === now.getTime()) {
    await events.record(trx, 'phone.confirmed', userId, { phone }, now)
  }
  return updated
}
