/** Effects of a verified code or link on the account of its recipient. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { recomputeProviders } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { assignReservedUsername } from '../usernames/index.ts'
import {
  clearAutoconfirmed,
  clearUnverifiedCredentials,
  resolvePendingSignUp,
  verifyEmail,
  verifyPhone,
} from '../users/index.ts'
import type { VerificationResult } from './verification-result.ts'

/** The link or code belongs to a sign-up: its password is verified together with the address. */
export async function confirmSignUp(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { type, tokenHash }: { type: 'signup' | 'invite'; tokenHash: string | null },
  now: Date,
): Promise<VerificationResult> {
  const isInvited = user.invited_at !== null
  const contact = { provider: 'email', address: user.email ?? '' } as const
  await resolvePendingSignUp(app, trx, user, { contact, tokenHash }, now)
  await recomputeProviders(trx, user.id, now)
  // A sign-up with an invited address changes nothing.
  const isNew = !isInvited && !user.email_confirmed_at
  if (isNew) {
    const confirmed = { address: user.email, isVerified: true }
    await assignReservedUsername(app, trx, user.id, confirmed, now)
  }
  const proof = { clearTokens: true, endSessions: isInvited, markIdentities: true }
  const verified = await verifyEmail(app, trx, user.id, proof, now)
  const action = isInvited ? 'invite_accepted' : 'user_signedup'
  return { state: 'done', user: verified, type, action }
}

/** Verifies the email only: credentials of an unverified account are not the owner's. */
export async function confirmMailbox(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  type: 'recovery' | 'magiclink',
  now: Date,
): Promise<VerificationResult> {
  await deleteTokens(trx, user.id)
  const retained = { keepIdentity: { provider: 'email' }, passwordHash: null } as const
  const isConfirmed = user.email_confirmed_at !== null
  const wasAssumed =
    isConfirmed && (await clearAutoconfirmed(app, trx, user, user.email ?? '', retained, now))
  if (isConfirmed && !wasAssumed) return { state: 'done', user, type, action: 'login' }
  if (!isConfirmed) await clearUnverifiedCredentials(app, trx, user, retained, now)
  const verified = await verifyEmail(app, trx, user.id, { markIdentities: true }, now)
  return { state: 'done', user: verified, type, action: isConfirmed ? 'login' : 'user_signedup' }
}

/** The code was sent to the number of a sign-up or a sign-in. */
export async function confirmPhone(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  tokenHash: string | null,
  now: Date,
): Promise<VerificationResult> {
  const contact = { provider: 'phone', address: user.phone ?? '' } as const
  await resolvePendingSignUp(app, trx, user, { contact, tokenHash }, now)
  const action = user.phone_confirmed_at ? 'login' : 'user_signedup'
  const retained = { keepIdentity: { provider: 'phone' }, passwordHash: null } as const
  await clearAutoconfirmed(app, trx, user, contact.address, retained, now)
  await recomputeProviders(trx, user.id, now)
  const isNew = !user.phone_confirmed_at && !user.email_confirmed_at
  if (isNew) {
    const confirmed = { address: user.phone, isVerified: true }
    await assignReservedUsername(app, trx, user.id, confirmed, now)
  }
  const proof = { clearTokens: true, inMetadata: true }
  const verified = await verifyPhone(app, trx, user.id, proof, now)
  return { state: 'done', user: verified, type: 'sms', action }
}
