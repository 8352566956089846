/**
 * Decides whether a matched account may be signed in to: its email is confirmed, is verified by this sign-in, or must
 * be confirmed by email.
 */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { insertAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import { isIdentifierTaken } from '../../db/users/identifier-owners.ts'
import type { UserRecord } from '../../db/users/users.ts'
import {
  ApiError,
  providerEmailNeedsVerification,
  providerEmailUnverified,
  signupDisabled,
} from '../../schemas/errors.ts'
import type { LinkContext } from '../otp/link-context.ts'
import {
  clearAutoconfirmed,
  clearUnverifiedCredentials,
  verifyEmail,
  verifyEmailOfNewUser,
} from '../users/index.ts'
import {
  dryRunConfirmationEmail,
  requestFirstEmailConfirmation,
  sendConfirmationMail,
} from './confirmation-email.ts'
import type { AccountEmails } from './emails.ts'
import { findUserOrThrow } from './lock-user.ts'
import type { MatchedAccount, SignInAttempt, SignInOutcome } from './types.ts'

export async function checkEmailConfirmation(
  app: FastifyInstance,
  trx: Trx,
  found: MatchedAccount,
  attempt: SignInAttempt,
  now: Date,
): Promise<SignInOutcome> {
  const { user: externalUser, addresses } = attempt
  const { user } = found
  const cleared = await clearIfAutoconfirmed(app, trx, found, attempt, now)
  if (cleared) return { state: 'accepted', user: cleared, action: 'login' }
  if (hasAcceptedEmail(user, externalUser.emailOptional)) {
    return { state: 'accepted', user, action: found.isNew ? 'user_signedup' : 'login' }
  }
  const { config } = app
  const email = await findAddress(trx, user, addresses)
  const isVerified = email && (config.AUTH_MAILER_AUTOCONFIRM || addresses.verified.includes(email))
  if (!isVerified) return handleUnverifiedEmail(app, trx, user, attempt, now)
  const isAssumed = !addresses.verified.includes(email)
  const proof = { columns: { email }, isAssumed, isAsserted: externalUser.isOfTenant }
  const verified = found.isNew
    ? await verifyEmailOfNewUser(app, trx, user, proof, now)
    : await verifyUnconfirmed(app, trx, found, proof, now)
  return { state: 'accepted', user: verified, action: 'user_signedup' }
}

/** A sign-in before the verification may have been that of another user. */
async function verifyUnconfirmed(
  app: FastifyInstance,
  trx: Trx,
  { user, identity }: Extract<MatchedAccount, { isNew: false }>,
  proof: { columns: { email: string }; isAssumed: boolean; isAsserted: boolean },
  now: Date,
): Promise<UserRecord> {
  const { id, identity_data: metadata } = identity
  const retained = { keepIdentity: { id }, passwordHash: null, metadata, keepSessions: true }
  await clearUnverifiedCredentials(app, trx, user, retained, now)
  const all = { ...proof, clearTokens: true, endSessions: true }
  return verifyEmail(app, trx, user.id, all, now)
}

/**
 * Responds as for an unknown address, with the same limits, where emails must be confirmed or sign-up is disabled. The
 * owner gets no email. Throws signup_disabled.
 */
export async function rejectTakenEmail(
  app: FastifyInstance,
  trx: Trx,
  address: string,
  links: LinkContext,
  now: Date,
): Promise<SignInOutcome> {
  if (app.config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
  if (app.config.AUTH_MAILER_AUTOCONFIRM) {
    return { state: 'rejected', error: providerEmailUnverified() }
  }
  await dryRunConfirmationEmail(app, trx, address, links, now)
  return { state: 'rejected', error: providerEmailNeedsVerification() }
}

/**
 * Clears unverified credentials, except the identity, of an account confirmed without verification whose email the
 * provider verified. Returns the user; undefined for every other account.
 */
async function clearIfAutoconfirmed(
  app: FastifyInstance,
  trx: Trx,
  found: MatchedAccount,
  { user: { isOfTenant }, addresses: { verified } }: SignInAttempt,
  now: Date,
): Promise<UserRecord | undefined> {
  const { user } = found
  if (found.isNew || !user.email || !verified.includes(user.email)) return undefined
  const { id, identity_data: metadata } = found.identity
  const retained = { keepIdentity: { id }, passwordHash: null, metadata }
  const isCleared = await clearAutoconfirmed(app, trx, user, user.email, retained, now)
  if (!isCleared) return undefined
  if (isOfTenant) await insertAutoconfirmed(trx, user.id, user.email, now, 'provider')
  return findUserOrThrow(trx, user.id)
}

/** The email is confirmed, or absent and optional. */
function hasAcceptedEmail(user: UserRecord, emailOptional: boolean): boolean {
  if (user.email_confirmed_at) return true
  return !user.email && (emailOptional || user.phone_confirmed_at !== null)
}

/** An unverified email is replaced by one that the provider verified, unless that belongs to another user. */
async function findAddress(
  trx: Trx,
  user: UserRecord,
  { primary: email, verified }: AccountEmails,
): Promise<string | null> {
  if (!email || email === user.email || !verified.includes(email)) return user.email
  if (user.email && verified.includes(user.email)) return user.email
  if (user.is_sso_user) return email
  return (await isIdentifierTaken(trx, email)) ? user.email : email
}

async function handleUnverifiedEmail(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { addresses: { primary }, context: { links } }: SignInAttempt,
  now: Date,
): Promise<SignInOutcome> {
  if (!app.config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS) {
    if (user.email) await sendConfirmationMail(app, trx, user, links, now)
    else if (primary) await requestFirstEmailConfirmation(app, trx, user, primary, links, now)
    return { state: 'rejected', error: providerEmailNeedsVerification() }
  }
  if (user.email) await sendConfirmationMail(app, trx, user, links, now).catch(ignoreTooSoon)
  return { state: 'accepted', user: await findUserOrThrow(trx, user.id), action: 'login' }
}

function ignoreTooSoon(error: unknown): void {
  if (error instanceof ApiError && error.status === 429) return
  throw error
}
