/** The only functions that confirm an email. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { insertIdentity, verifyIdentityEmail } from '../../db/identities/identities.ts'
import { deleteKnownDevices } from '../../db/sessions/devices.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { isAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import { setEmailConfirmed } from '../../db/users/merge-user.ts'
import { recomputeProviders, type UserChange } from '../../db/users/update-user.ts'
import { findUser, type UserRecord, type UserRow } from '../../db/users/users.ts'
import { notifyUser } from '../emails/index.ts'
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

/** Emits the event and notifies the previous email, if there was one. `user` is from before the change. */
export async function emitEmailChanged(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  email: string,
  now: Date,
): Promise<void> {
  const facts = { previous: user.email || null, current: email }
  await app.events.record(trx, 'email.changed', user.id, facts, now)
  if (!user.email) return
  const notification = { kind: 'email_changed_notification', OldEmail: user.email } as const
  await notifyUser(app, trx, { ...user, email }, notification, now)
}

/**
 * Adds the missing identity where AUTH_EXPERIMENTAL_CREATE_EMAIL_IDENTITY_ON_PASSWORD_SET_ENABLED asks for it: for a
 * confirmed address of a user who is neither anonymous nor managed by an identity provider. `email_verified` is false
 * for an address that was confirmed without verification: such an identity must not match the one of another user.
 */
export async function addEmailIdentity(
  { config }: FastifyInstance,
  trx: Trx,
  userId: string,
  now: Date,
): Promise<void> {
  if (!config.AUTH_EXPERIMENTAL_CREATE_EMAIL_IDENTITY_ON_PASSWORD_SET_ENABLED) return
  const user = await findUser(trx, userId)
  if (!user?.email || !user.email_confirmed_at || user.is_sso_user || user.is_anonymous) return
  if (user.identities.some(({ provider }) => provider === 'email')) return
  const { email } = user
  const isVerified = !(await isAutoconfirmed(trx, { user_id: userId, address: email }))
  const claims = { sub: userId, email, email_verified: isVerified, phone_verified: false }
  const identity = { user_id: userId, provider: 'email', provider_id: userId }
  await insertIdentity(trx, { ...identity, identity_data: claims }, now)
  await recomputeProviders(trx, userId, now)
}
