/** The only functions that confirm an email. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { verifyIdentityEmail } from '../../db/identities/identities.ts'
import { deleteKnownDevices } from '../../db/sessions/devices.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { setEmailConfirmed } from '../../db/users/merge-user.ts'
import type { UserChange } from '../../db/users/update-user.ts'
import type { UserRecord, UserRow } from '../../db/users/users.ts'
import { revokeAllSessions } from '../sessions/index.ts'
import { reloadUser } from './lock.ts'

/** Effects besides the confirmation. */
interface EmailVerification {
  /** Columns changed with it, such as a new email; they override those of the confirmation. */
  columns?: UserChange
  /** Deletes pending links and codes. */
  clearTokens?: boolean
  /** Revokes earlier sessions and codes. */
  endSessions?: boolean
  /**
   * Confirmed without verification (AUTH_MAILER_AUTOCONFIRM): a later verification clears earlier credentials, see
   * `clearAutoconfirmed`.
   */
  isAssumed?: boolean
  /** Confirmed by the provider of a tenant: relying parties are not told that it is verified. */
  isAsserted?: boolean
  /** Verified by an email to the address: identities with it count as verified too. */
  markIdentities?: boolean
}

/**
 * Confirms the email of a user whom this transaction has inserted: there are no tokens, sessions or flows to end. An
 * update after the insert, as in GoTrue, so that an operator's trigger on it runs. Returns the user after it.
 */
export async function verifyEmailOfNewUser(
  app: FastifyInstance,
  trx: Trx,
  created: UserRecord,
  proof: Pick<EmailVerification, 'columns' | 'isAssumed' | 'isAsserted'>,
  now: Date,
): Promise<UserRecord> {
  const { row, hasTriggers } = await confirm(trx, created.id, proof, now)
  const user = hasTriggers ? await reloadUser(trx, created.id) : { ...created, ...row }
  await recordConfirmation(app, trx, user, now)
  return user
}

/** Keeps the time of an earlier confirmation. Returns the user after the change. */
export async function verifyEmail(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  { clearTokens, endSessions, markIdentities, ...proof }: EmailVerification,
  now: Date,
): Promise<UserRecord> {
  if (clearTokens) await deleteTokens(trx, userId)
  if (endSessions) {
    await revokeAllSessions(app, trx, userId, { keepsUnopened: true }, now)
    await deleteKnownDevices(trx, userId)
  }
  const { row } = await confirm(trx, userId, proof, now)
  if (markIdentities && row.email) await verifyIdentityEmail(trx, userId, row.email, now)
  const user = await reloadUser(trx, userId)
  await recordConfirmation(app, trx, user, now)
  return user
}

function confirm(
  trx: Trx,
  userId: string,
  { columns, isAssumed, isAsserted }: EmailVerification,
  now: Date,
) {
  const assertedBy = isAsserted ? 'provider' : null
  const assumedBy = isAssumed ? 'autoconfirm' : assertedBy
  const change = { columns, user: { email_verified: true }, assumedBy } as const
  return setEmailConfirmed(trx, userId, change, now)
}

/** Not for a time that was kept. */
async function recordConfirmation(
  { events }: FastifyInstance,
  trx: Trx,
  { id, email, email_confirmed_at }: UserRow,
  now: Date,
): Promise<void> {
  if (!email || email_confirmed_at?.getTime() !== now.getTime()) return
  await events.record(trx, 'email.confirmed', id, { email }, now)
}
