/** The only function that confirms an email. */
import type { Trx } from '../../db/core/database.ts'
import { verifyIdentityEmail } from '../../db/identities/identities.ts'
import { deleteKnownDevices } from '../../db/sessions/known-devices.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { insertAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import { setEmailConfirmed } from '../../db/users/merge-user.ts'
import type { UserChange } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { revokeAllSessions } from '../sessions/index.ts'
import { reloadUser } from './lock.ts'

/** Effects besides the confirmation. */
interface EmailVerification {
  /** Columns changed with it, such as a new email; they override those of the confirmation. */
  columns?: UserChange
  /** Deletes pending links and codes. */
  voidsTokens?: boolean
  /** Revokes earlier sessions and codes. */
  endsSessions?: boolean
  /**
   * Confirmed without verification (AUTH_MAILER_AUTOCONFIRM): a later verification clears earlier credentials, see
   * `clearAutoconfirmed`.
   */
  isAssumed?: boolean
  /** Verified by an email to the address: identities with it count as verified too. */
  marksIdentities?: boolean
}

/** Keeps the time of an earlier confirmation. Returns the user after the change. */
export async function verifyEmail(
  { events, sessions }: Deps<'events' | 'sessions'>,
  trx: Trx,
  userId: string,
  { columns, voidsTokens, endsSessions, isAssumed, marksIdentities }: EmailVerification,
  now: Date,
): Promise<UserRecord> {
  if (voidsTokens) await deleteTokens(trx, userId)
  if (endsSessions) {
    await revokeAllSessions(sessions, trx, userId, { keepsUnopened: true }, now)
    await deleteKnownDevices(trx, userId)
  }
  const change = { columns, user: { email_verified: true } }
  const { email } = await setEmailConfirmed(trx, userId, change, now)
  if (isAssumed && email) await insertAutoconfirmed(trx, userId, email, now)
  if (marksIdentities && email) await verifyIdentityEmail(trx, userId, email, now)
  const user = await reloadUser(trx, userId)
  if (email && user.email_confirmed_at?.getTime() === now.getTime()) {
    await events.record(trx, 'email.confirmed', userId, { email }, now)
  }
  return user
}
