/**
 * A sign-up with an address whose account may be in use changes nothing by itself. What it brought waits for the link or
 * code that was sent for it.
 */
import type { Trx } from '../../../db/database.ts'
import { putPendingSignUp, takePendingSignUp } from '../../../db/pending-sign-ups.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { takeOver } from './claimed.ts'
import { isUnproven, type Registration } from './register.ts'
import type { Contact } from './sign-up-data.ts'

/** Keeps what a registration could not set yet. After its link or code was made: the two belong together. */
export async function keepForProof(
  trx: Trx,
  { user, claim }: Registration,
  now: Date,
): Promise<void> {
  if (claim) await putPendingSignUp(trx, user.id, claim, now)
}

/**
 * The address answered with the confirmation token of this hash. What waited for this token becomes the account's; what
 * waited for another one goes, and with it whatever was there before: two people signed up, and the token does not say
 * which of them reads the mail.
 */
export async function settleSignUps(
  house: House<'sessions'>,
  trx: Trx,
  user: UserRecord,
  { contact, tokenHash }: { contact: Contact; tokenHash: string | null },
  now: Date,
): Promise<void> {
  const pending = await takePendingSignUp(trx, user.id)
  if (!pending || !isUnproven(user, contact)) return
  const isMeant = pending.tokenHash === tokenHash
  // What waits for somebody who is invited came with the invitation.
  const metadata = user.invited_at ? pending.metadata : (user.raw_user_meta_data ?? {})
  const nothing = { passwordHash: null, metadata }
  await takeOver(house, trx, user, contact, isMeant ? pending : nothing, now)
}
