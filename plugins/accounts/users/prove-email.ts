/** The one place where an email address becomes proven. */
import type { Trx } from '../../../db/database.ts'
import { verifyIdentityEmail } from '../../../db/identities.ts'
import { deleteKnownDevices } from '../../../db/known-devices.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { confirmEmail } from '../../../db/user-edits.ts'
import type { UserChange } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { reload } from './lock.ts'

/** What changes beside the address being proven; nothing when empty. */
export interface EmailProof {
  /** Columns that change with it: the address, where it only now becomes the account's. They win over those of the proof. */
  columns?: UserChange
  /** Links and codes that are on their way open nothing any more. */
  voidsTokens?: boolean
  /** Sessions and codes from before the proof end. */
  endsSessions?: boolean
  /** The mailbox itself answered: identities with this address count as verified, too. */
  marksIdentities?: boolean
}

/** Keeps the moment of an earlier proof. Returns the person as they are then. */
export async function proveEmail(
  { events, sessions }: House<'events' | 'sessions'>,
  trx: Trx,
  userId: string,
  { columns, voidsTokens, endsSessions, marksIdentities }: EmailProof,
  now: Date,
): Promise<UserRecord> {
  if (voidsTokens) await deleteTokens(trx, userId)
  if (endsSessions) {
    await sessions.endAll(trx, userId, { keepsUnopened: true }, now)
    await deleteKnownDevices(trx, userId)
  }
  const change = { columns, user: { email_verified: true } }
  const { email } = await confirmEmail(trx, userId, change, now)
  if (marksIdentities && email) await verifyIdentityEmail(trx, userId, email, now)
  const person = await reload(trx, userId)
  if (email && person.email_confirmed_at?.getTime() === now.getTime()) {
    await events.record(trx, 'email.confirmed', userId, { email }, now)
  }
  return person
}
