/** A change to a record as an admin describes it, and its consequences for tokens, sessions and identities. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/database.ts'
import { putIdentity, recomputeProviders } from '../../../db/identities.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { deleteSessions } from '../../../db/sessions.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import { type Metadata, type UserChange, type UserRecord, updateUser } from '../../../db/users.ts'
import type { RecordChange } from '../../../schemas/admin-user.ts'
import { normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'
import { bannedUntil } from './ban.ts'

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
  passwords: Pick<FastifyInstance['passwords'], 'checkStrength' | 'hash'>,
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

/** Writes the change. A taken address shows as a unique violation of the database. */
export async function writeChange(trx: Trx, user: UserRecord, change: Change, now: Date) {
  await updateUser(trx, user.id, columnsOf(user, change, now), now)
  if (change.passwordHash) await deleteSessions(trx, user.id)
  // A pending link proves an address or a password that has just been settled.
  if (touchesProof(change)) await deleteTokens(trx, user.id)
  await writeIdentities(trx, user.id, change, now)
  const verified = change.confirmsEmail ? { email_verified: true } : undefined
  const metadata = {
    ...(change.appMetadata && { app: change.appMetadata }),
    ...((change.userMetadata || verified) && { user: { ...verified, ...change.userMetadata } }),
  }
  if (Object.keys(metadata).length > 0) await mergeMetadata(trx, user.id, metadata, now)
}

function columnsOf(user: UserRecord, change: Change, now: Date): UserChange {
  const { role, email, phone, passwordHash, confirmsEmail, confirmsPhone } = change
  const turnsPermanent = (email && confirmsEmail) || (phone && confirmsPhone)
  return {
    ...(role && { role }),
    ...(email && { email, email_change: '', email_change_confirm_status: 0 }),
    ...(phone && { phone, phone_change: '' }),
    ...(passwordHash && { encrypted_password: passwordHash }),
    ...(confirmsEmail && { email_confirmed_at: user.email_confirmed_at ?? now }),
    ...(confirmsPhone && { phone_confirmed_at: user.phone_confirmed_at ?? now }),
    ...(change.bannedUntil !== undefined && { banned_until: change.bannedUntil }),
    ...(turnsPermanent && { is_anonymous: false }),
  }
}

function touchesProof(change: Change): boolean {
  const { email, phone, passwordHash, confirmsEmail, confirmsPhone } = change
  return Boolean(email || phone || passwordHash || confirmsEmail || confirmsPhone)
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
  if (email) await put('email', { email, email_verified: confirmsEmail })
  if (phone) await put('phone', { phone, phone_verified: confirmsPhone })
  await recomputeProviders(trx, id, now)
}
