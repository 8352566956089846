/** A change to a record as an admin describes it, and its consequences for tokens, sessions and identities. */
import type { Trx } from '../../../db/database.ts'
import { putIdentity } from '../../../db/identities.ts'
import { deleteKnownDevices } from '../../../db/known-devices.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { recomputeProviders } from '../../../db/user-providers.ts'
import { type UserChange, updateUser, withoutPendingChanges } from '../../../db/user-rows.ts'
import { tokenTypes } from '../../../db/user-tokens.ts'
import type { Metadata, UserRecord } from '../../../db/users.ts'
import type { RecordChange } from '../../../schemas/admin-user.ts'
import { normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'
import type { House } from '../../define-plugin.ts'
import { bannedUntil } from './ban.ts'
import { mergeWithin } from './metadata-size.ts'
import { proveEmail } from './prove-email.ts'
import { provePhone } from './prove-phone.ts'

/** Empty strings and false mean no change. */
export interface Change {
  role: string | undefined
  email: string | undefined
  phone: string | undefined
  passwordHash: string | undefined
  confirmsEmail: boolean
  confirmsPhone: boolean
  userMetadata: Metadata | undefined
  appMetadata: Metadata | undefined
  /** Null lifts the ban. */
  bannedUntil: Date | null | undefined
}

/** Throws validation_failed or weak_password; hashes the password, so it belongs before the transaction. */
export async function readChange(
  { passwords }: House<'passwords'>,
  input: RecordChange,
  now: Date,
): Promise<Change> {
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

/** Writes the change. Throws metadata_too_large; a taken address shows as a unique violation of the database. */
export async function writeChange(
  house: House<'config' | 'events' | 'sessions'>,
  trx: Trx,
  user: UserRecord,
  change: Change,
  now: Date,
): Promise<void> {
  await updateUser(trx, user.id, columnsOf(change), now)
  await writeProofs(house, trx, user, change, now)
  await endSessions(house, trx, user, change, now)
  await voidTokens(trx, user.id, change)
  await writeIdentities(trx, user.id, change, now)
  const { appMetadata, userMetadata } = change
  const metadata = { app: appMetadata, user: userMetadata }
  if (appMetadata || userMetadata) await mergeWithin(house, trx, user.id, metadata, now)
}

/** What was proven before no longer says who they are, or what they may. */
async function endSessions(
  { sessions }: House<'sessions'>,
  trx: Trx,
  user: UserRecord,
  { passwordHash, role, bannedUntil: end }: Change,
  now: Date,
): Promise<void> {
  const hasOtherRole = role !== undefined && role !== user.role
  if (passwordHash) await deleteKnownDevices(trx, user.id)
  if (passwordHash || hasOtherRole) await sessions.endAll(trx, user.id, {}, now)
  else if (end && end > now) await sessions.suspendAll(trx, user.id)
}

function columnsOf({ role, email, phone, passwordHash, bannedUntil }: Change): UserChange {
  return {
    ...(role && { role }),
    ...(email && { email, email_change: '', email_change_confirm_status: 0 }),
    ...(phone && { phone, phone_change: '' }),
    ...(passwordHash && { encrypted_password: passwordHash, ...withoutPendingChanges }),
    ...(bannedUntil !== undefined && { banned_until: bannedUntil }),
  }
}

/** An anonymous person becomes permanent by a new address that is proven, not by the proof of one that they had. */
async function writeProofs(
  house: House<'events' | 'sessions'>,
  trx: Trx,
  user: UserRecord,
  change: Change,
  now: Date,
): Promise<void> {
  const { email, phone, confirmsEmail, confirmsPhone } = change
  const turnsPermanent = (email && confirmsEmail) || (phone && confirmsPhone)
  const columns = { is_anonymous: turnsPermanent ? false : user.is_anonymous }
  if (confirmsEmail) await proveEmail(house, trx, user.id, { columns }, now)
  if (confirmsPhone) await provePhone(house, trx, user.id, { columns, inMetadata: false }, now)
}

/**
 * A pending link proves an address or a password that has just been settled. Another address by itself does not settle
 * whose password the account has: what waits stays.
 */
async function voidTokens(trx: Trx, id: string, change: Change): Promise<void> {
  const { email, phone, passwordHash, confirmsEmail, confirmsPhone } = change
  if (passwordHash || confirmsEmail || confirmsPhone) await deleteTokens(trx, id)
  else if (email || phone) await deleteTokens(trx, id, tokenTypes)
}

async function writeIdentities(trx: Trx, id: string, change: Change, now: Date): Promise<void> {
  const { email, phone, confirmsEmail, confirmsPhone } = change
  if (!email && !phone) return
  const put = (provider: string, data: Metadata) =>
    putIdentity(
      trx,
      { user_id: id, provider, provider_id: id, identity_data: { sub: id, ...data } },
      now,
    )
  if (email) await put('email', { email, email_verified: confirmsEmail, phone_verified: false })
  if (phone) await put('phone', { phone, email_verified: false, phone_verified: confirmsPhone })
  await recomputeProviders(trx, id, now)
}
