/** An admin's change of a user, and its effects on tokens, sessions and identities. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { upsertIdentity } from '../../../db/identities/identities.ts'
import { deleteDeactivation } from '../../../db/scim/deactivation.ts'
import { deleteKnownDevices } from '../../../db/sessions/devices.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import { deleteTokens } from '../../../db/tokens/one-time-tokens.ts'
import { deleteOrphanedSignUp, deleteTokensSentTo } from '../../../db/tokens/pending-changes.ts'
import {
  deleteAssertedAddress,
  insertAutoconfirmed,
} from '../../../db/users/autoconfirmed-addresses.ts'
import {
  recomputeProviders,
  type UserChange,
  updateUser,
  withoutSentTokens,
} from '../../../db/users/update-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { RecordChange } from '../../../schemas/admin-user.ts'
import { normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'
import { revokeAllSessions, suspendSessions } from '../../sessions/index.ts'
import { addEmailIdentity, verifyEmail } from '../confirm-email.ts'
import { verifyPhone } from '../confirm-phone.ts'
import { mergeWithin } from '../metadata-size.ts'
import { bannedUntil } from './input.ts'

/** Empty strings and false mean no change. */
export interface AdminUserChange {
  role: string | undefined
  email: string | undefined
  phone: string | undefined
  passwordHash: string | undefined
  confirmsEmail: boolean
  confirmsPhone: boolean
  userMetadata: UserMetadata | undefined
  appMetadata: UserMetadata | undefined
  /** Null lifts the ban, and a deactivation by SCIM. */
  bannedUntil: Date | null | undefined
}

/** Throws validation_failed or weak_password. Hashes the password, so that it must run before the transaction. */
export async function readAdminChange(
  { passwords }: FastifyInstance,
  input: RecordChange,
  now: Date,
): Promise<AdminUserChange> {
  const { password } = input
  const change = {
    role: input.role?.trim() || undefined,
    email: input.email ? normalizeEmail(input.email) : undefined,
    phone: input.phone ? normalizePhone(input.phone) : undefined,
    confirmsEmail: input.email_confirm ?? false,
    confirmsPhone: input.phone_confirm ?? false,
    userMetadata: input.user_metadata,
    appMetadata: input.app_metadata,
    bannedUntil: bannedUntil(input.ban_duration, now),
  }
  if (!password) return { ...change, passwordHash: undefined }
  await passwords.checkStrength(password)
  return { ...change, passwordHash: await passwords.hash(password) }
}

/** Writes the change. Throws metadata_too_large; a taken identifier is a unique violation of the database. */
export async function writeChange(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  change: AdminUserChange,
  now: Date,
): Promise<void> {
  await updateUser(trx, user.id, toColumns(change), now)
  if (change.bannedUntil === null) await deleteDeactivation(trx, user.id)
  await writeConfirmations(app, trx, user, change, now)
  await endSessions(app, trx, user, change, now)
  await deleteChangedTokens(trx, user.id, change)
  await writeIdentities(trx, user.id, change, now)
  const isFirstPassword = change.passwordHash && !user.encrypted_password
  if (isFirstPassword) await addEmailIdentity(app, trx, user.id, now)
  const { appMetadata, userMetadata } = change
  const metadata = { app: appMetadata, user: userMetadata }
  if (appMetadata || userMetadata) await mergeWithin(app, trx, user.id, metadata, now)
}

/** Earlier authentications no longer reflect the user's identifiers or role. */
async function endSessions(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { passwordHash, role, bannedUntil: end }: AdminUserChange,
  now: Date,
): Promise<void> {
  const hasOtherRole = role !== undefined && role !== user.role
  if (passwordHash) await deleteKnownDevices(trx, user.id)
  if (passwordHash || hasOtherRole) await revokeAllSessions(app, trx, user.id, {}, now)
  else if (end && end > now) await suspendSessions(trx, user.id)
}

function toColumns({ role, email, phone, passwordHash, bannedUntil }: AdminUserChange): UserChange {
  return {
    ...(role && { role }),
    ...(email && { email, email_change: '', email_change_confirm_status: 0 }),
    ...(phone && { phone, phone_change: '' }),
    ...(passwordHash && { encrypted_password: passwordHash, ...withoutSentTokens }),
    ...(bannedUntil !== undefined && { banned_until: bannedUntil }),
  }
}

/** An anonymous user becomes permanent with a verified identifier, set in this change or before. */
async function writeConfirmations(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  change: AdminUserChange,
  now: Date,
): Promise<void> {
  const { email, phone, confirmsEmail, confirmsPhone } = change
  const provesEmail = confirmsEmail && (email ?? (user.email_confirmed_at ? null : user.email))
  const provesPhone = confirmsPhone && (phone ?? (user.phone_confirmed_at ? null : user.phone))
  const turnsPermanent = provesEmail || provesPhone
  const columns = { is_anonymous: turnsPermanent ? false : user.is_anonymous }
  await recordAssumptions(trx, user, change, now)
  if (confirmsEmail) await verifyEmail(app, trx, user.id, { columns }, now)
  if (confirmsPhone) await verifyPhone(app, trx, user.id, { columns, inMetadata: false }, now)
}

/**
 * As in GoTrue, a changed address keeps the confirmation of the previous one; there is no proof that it is the user's.
 */
async function recordAssumptions(
  trx: Trx,
  user: UserRecord,
  { email, phone, confirmsEmail, confirmsPhone }: AdminUserChange,
  now: Date,
): Promise<void> {
  if (confirmsEmail) await deleteAssertedAddress(trx, user.id, email ?? user.email ?? '')
  if (confirmsPhone) await deleteAssertedAddress(trx, user.id, phone ?? user.phone ?? '')
  if (email && !confirmsEmail && email !== user.email && user.email_confirmed_at) {
    await insertAutoconfirmed(trx, user.id, email, now, 'admin')
  }
  if (phone && !confirmsPhone && phone !== user.phone && user.phone_confirmed_at) {
    await insertAutoconfirmed(trx, user.id, phone, now, 'admin')
  }
}

/**
 * Deletes pending tokens of the changed credentials; those of the other identifier are kept. A changed identifier alone
 * does not determine the password, so a pending sign-up is kept.
 */
async function deleteChangedTokens(trx: Trx, id: string, change: AdminUserChange): Promise<void> {
  const { email, phone, passwordHash, confirmsEmail, confirmsPhone } = change
  if (passwordHash) return deleteTokens(trx, id)
  if (email || confirmsEmail) await deleteTokensSentTo(trx, id, 'email')
  if (phone || confirmsPhone) await deleteTokensSentTo(trx, id, 'phone')
  if (confirmsEmail || confirmsPhone) await deleteOrphanedSignUp(trx, id)
}

async function writeIdentities(
  trx: Trx,
  id: string,
  change: AdminUserChange,
  now: Date,
): Promise<void> {
  const { email, phone, confirmsEmail, confirmsPhone } = change
  if (!email && !phone) return
  const upsert = (provider: string, data: UserMetadata) =>
    upsertIdentity(
      trx,
      { user_id: id, provider, provider_id: id, identity_data: { sub: id, ...data } },
      now,
    )
  if (email) await upsert('email', { email, email_verified: confirmsEmail, phone_verified: false })
  if (phone) await upsert('phone', { phone, email_verified: false, phone_verified: confirmsPhone })
  await recomputeProviders(trx, id, now)
}
