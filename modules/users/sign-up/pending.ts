/** A sign-up with an identifier in use changes nothing until its link or code is consumed. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { consumePendingSignUp, upsertPendingSignUp } from '../../../db/users/pending-sign-ups.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import { replaceAccountData } from './clear-unverified.ts'
import type { SignUpResult } from './types.ts'
import { isUnverified } from './unconfirmed-user.ts'
import type { LoginIdentifier } from './user-data.ts'

/** Stores the data of the sign-up. Called after its token was created, to which it is bound. */
export async function storePendingSignUp(
  trx: Trx,
  { user, claim }: SignUpResult,
  now: Date,
): Promise<void> {
  if (claim) await upsertPendingSignUp(trx, user.id, claim, now)
}

/**
 * Called when the confirmation token with this hash is consumed. A pending sign-up of this token is applied; one of
 * another token is deleted with all earlier credentials: two users signed up, and the token does not show which one
 * reads the email.
 */
export async function resolvePendingSignUp(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { contact, tokenHash }: { contact: LoginIdentifier; tokenHash: string | null },
  now: Date,
): Promise<void> {
  const pending = await consumePendingSignUp(trx, user.id)
  if (!pending || !isUnverified(user, contact)) return
  const isMeant = pending.tokenHash === tokenHash
  // The pending data of an invited user belong to the invitation.
  const metadata = user.invited_at ? pending.metadata : (user.raw_user_meta_data ?? {})
  const nothing = { passwordHash: null, metadata }
  await replaceAccountData(app, trx, user, contact, isMeant ? pending : nothing, now)
}
