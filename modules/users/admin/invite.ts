/** Invitations by email: an account without a password for the user who opens the link. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import { findUserByAnyEmail, type UserRecord } from '../../../db/users/users.ts'
import { emailExists } from '../../../schemas/errors.ts'
import { checkRecipient, sendUncountedLinkEmail } from '../../emails/index.ts'
import type { LinkContext } from '../../otp/links.ts'
import { lockAndLoadUser } from '../lock.ts'
import { mergeWithin } from '../metadata-size.ts'
import { storePendingSignUp } from '../sign-up/pending.ts'
import type { SignUpInput, SignUpResult } from '../sign-up/types.ts'
import { findOrCreateUnconfirmedUser, isUnverified } from '../sign-up/unconfirmed-user.ts'
import { findOwner, isMadeByAdmin, type LoginIdentifier } from '../sign-up/user-data.ts'

/**
 * Returns the invited account; call `storePendingSignUp` after creating its link. An earlier sign-up with the address
 * is cleared when the invitation is accepted. Throws email_exists for a verified account.
 */
export async function prepareInvitation(
  app: FastifyInstance,
  trx: Trx,
  user: SignUpInput,
  now: Date,
): Promise<SignUpResult> {
  const { contact, aud } = user
  const existing = await findUserByAnyEmail(trx, contact.address, aud)
  const isWaiting =
    existing?.invited_at && !existing.email_confirmed_at && !existing.encrypted_password
  const invited = isWaiting
    ? { user: existing }
    : await findOrCreateUnconfirmedUser(app, trx, user, now)
  if (!invited) throw emailExists()
  return invited
}

/** Exempt from send limits. Throws email_exists or email_provider_not_configured. */
export async function inviteUser(
  app: FastifyInstance,
  trx: Trx,
  user: SignUpInput,
  context: LinkContext,
  now: Date,
): Promise<UserRecord> {
  const { emails } = app
  checkRecipient(emails.policy, user.contact.address)
  const invited = await prepareInvitation(app, trx, user, now)
  const sent = await sendUncountedLinkEmail(app, trx, 'invite', invited.user, context, now)
  await storePendingSignUp(trx, invited, now)
  return { ...invited.user, ...sent }
}

/**
 * Merges an admin's metadata into an unverified user whom an admin created. Changes no other user. Throws
 * metadata_too_large.
 */
export async function applyAdminMetadata(
  app: FastifyInstance,
  trx: Trx,
  { contact, aud, data }: { contact: LoginIdentifier; aud: string; data: UserMetadata },
  now: Date,
): Promise<void> {
  if (Object.keys(data).length === 0) return
  const found = await findOwner(trx, contact, aud)
  const user = found && (await lockAndLoadUser(trx, found.id))
  if (!user || !isUnverified(user, contact) || !isMadeByAdmin(user)) return
  await mergeWithin(app, trx, user.id, { user: data }, now)
}
