/** What a proven mailbox does to its account. */
import type { Trx } from '../../../db/database.ts'
import { deleteOtherIdentities, verifyIdentityEmail } from '../../../db/identities.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { deleteSessions } from '../../../db/sessions.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import { type UserRecord, updateUser } from '../../../db/users.ts'
import { done, type Verified } from './verified.ts'

/** The link came with the sign-up's own password, so that password is proven along with the address. */
export async function confirmSignUp(
  trx: Trx,
  user: UserRecord,
  type: 'signup' | 'invite',
  now: Date,
): Promise<Verified> {
  await deleteTokens(trx, user.id)
  const isInvited = user.invited_at !== null
  if (isInvited) await deleteSessions(trx, user.id)
  await confirmEmail(trx, user, now)
  return done(trx, user, type, isInvited ? 'invite_accepted' : 'user_signedup', now)
}

/** Proves the mailbox and nothing else: whatever an unproven account already had is not the owner's. */
export async function confirmMailbox(
  trx: Trx,
  user: UserRecord,
  type: 'recovery' | 'magiclink',
  now: Date,
): Promise<Verified> {
  await deleteTokens(trx, user.id)
  if (user.email_confirmed_at) return { state: 'done', user, type, action: 'login' }
  await dropUnprovenCredentials(trx, user, now)
  await confirmEmail(trx, user, now)
  return done(trx, user, type, 'user_signedup', now)
}

/** A password, identity or session from before the proof may be somebody else's; a proven phone's stays. */
export async function dropUnprovenCredentials(trx: Trx, user: UserRecord, now: Date) {
  const keepsPassword = user.phone_confirmed_at !== null
  if (!keepsPassword) await updateUser(trx, user.id, { encrypted_password: null }, now)
  await deleteOtherIdentities(trx, user.id, keepsPassword ? ['email', 'phone'] : ['email'])
  await deleteSessions(trx, user.id)
}

async function confirmEmail(trx: Trx, user: UserRecord, now: Date): Promise<void> {
  const email_confirmed_at = user.email_confirmed_at ?? now
  await updateUser(trx, user.id, { email_confirmed_at, is_anonymous: false }, now)
  await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
  if (user.email) await verifyIdentityEmail(trx, user.id, user.email, now)
}
