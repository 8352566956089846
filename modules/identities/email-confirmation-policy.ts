/**
 * Decides whether a matched account may be signed in to: its email is confirmed, is verified by this sign-in, or must
 * be confirmed by email.
 */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { insertAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import { isIdentifierTaken, isTaken } from '../../db/users/identifier-owners.ts'
import type { UserRecord } from '../../db/users/users.ts'
import {
  ApiError,
  providerEmailNeedsVerification,
  providerEmailUnverified,
  signupDisabled,
} from '../../schemas/errors.ts'
import { checkRecipient, sendEmailChangeEmails, sendUncountedLinkEmail } from '../emails/index.ts'
import {
  checkSendQuota,
  perClientInterval,
  reserveInterval,
  reserveSendQuota,
} from '../otp/index.ts'
import type { LinkContext } from '../otp/links.ts'
import {
  clearAutoconfirmed,
  clearUnverifiedCredentials,
  verifyEmail,
  verifyEmailOfNewUser,
} from '../users/index.ts'
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

/** A dry run that throws the errors of sending. */
async function dryRunConfirmationEmail(
  app: FastifyInstance,
  trx: Trx,
  address: string,
  links: LinkContext,
  now: Date,
): Promise<void> {
  await reserve(app, trx, address, links, now)
  await checkSendQuota(app, trx, 'email', counted(address, links), now)
}

const counted = (to: string, { network }: LinkContext) =>
  ({ purpose: 'signup', to, network }) as const

async function reserve(
  app: FastifyInstance,
  trx: Trx,
  address: string,
  { network }: LinkContext,
  now: Date,
): Promise<void> {
  checkRecipient(app.emails.policy, address)
  const waiting = perClientInterval(address, network)
  await reserveInterval(app, trx, 'email', 'confirmation', waiting, now)
}

/**
 * Throws over_email_send_rate_limit, email_address_not_authorized or email_provider_not_configured before anything is
 * written.
 */
async function sendConfirmationMail(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  links: LinkContext,
  now: Date,
): Promise<void> {
  const address = user.email ?? ''
  await reserve(app, trx, address, links, now)
  await reserveSendQuota(app, trx, 'email', counted(address, links), now)
  await sendUncountedLinkEmail(app, trx, 'confirmation', user, links, now)
}

/**
 * Sends a confirmation to a user without an email. Until it is confirmed the address is stored as pending, so that it
 * is not withheld from its owner. For an address in use nothing is sent, and the requester does not notice. Throws the
 * errors of sendConfirmationMail.
 */
export async function requestFirstEmailConfirmation(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  email: string,
  links: LinkContext,
  now: Date,
): Promise<void> {
  await dryRunConfirmationEmail(app, trx, email, links, now)
  const hasOwner = await isTaken(trx, email, user.aud ?? app.config.AUTH_JWT_AUD, user.id)
  const change = { newEmail: email, requiresCurrent: false, reachesNew: !hasOwner }
  await sendEmailChangeEmails(app, trx, user, change, links, now)
}
