/**
 * Decides whether a matched account may be signed in to: its email is confirmed, is verified by this sign-in, or must
 * be confirmed by email.
 */
import type { Trx } from '../../db/core/database.ts'
import { isIdentifierTaken } from '../../db/users/identifier-owners.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import {
  ApiError,
  providerEmailNeedsVerification,
  providerEmailUnverified,
  signupDisabled,
} from '../../schemas/errors.ts'
import type { LinkContext } from '../otp/link-context.ts'
import { clearAutoconfirmed, clearUnverifiedCredentials, verifyEmail } from '../users/index.ts'
import {
  dryRunConfirmationEmail,
  requestFirstEmailConfirmation,
  sendConfirmationMail,
} from './confirmation-email.ts'
import type { AccountEmails } from './emails.ts'
import { findUserOrThrow } from './lock-user.ts'
import type { MatchedAccount, SignInAttempt, SignInOutcome } from './types.ts'

type PolicyDeps = Deps<'config' | 'emails' | 'otp' | 'users'>

export async function checkEmailConfirmation(
  deps: PolicyDeps,
  trx: Trx,
  found: MatchedAccount,
  attempt: SignInAttempt,
  now: Date,
): Promise<SignInOutcome> {
  const { user: externalUser, addresses } = attempt
  const { user } = found
  const cleared = await clearIfAutoconfirmed(deps, trx, found, addresses, now)
  if (cleared) return { state: 'accepted', user: cleared, action: 'login' }
  if (hasAcceptedEmail(user, externalUser.emailOptional)) {
    return { state: 'accepted', user, action: found.isNew ? 'user_signedup' : 'login' }
  }
  const { config, users } = deps
  const email = await findAddress(trx, user, addresses)
  const isVerified = email && (config.AUTH_MAILER_AUTOCONFIRM || addresses.verified.includes(email))
  if (!isVerified) return handleUnverifiedEmail(deps, trx, user, attempt, now)
  if (!found.isNew) {
    const { id, identity_data: metadata } = found.identity
    const retained = { keepIdentity: { id }, passwordHash: null, metadata, keepSessions: true }
    await clearUnverifiedCredentials(users, trx, user, retained, now)
  }
  // A sign-in before the verification may have been that of another user.
  const isAssumed = !addresses.verified.includes(email)
  const proof = { columns: { email }, voidsTokens: true, endsSessions: true, isAssumed }
  const verified = await verifyEmail(users, trx, user.id, proof, now)
  return { state: 'accepted', user: verified, action: 'user_signedup' }
}

/**
 * Responds as for an unknown address, with the same limits, where emails must be confirmed or sign-up is disabled. The
 * owner gets no email. Throws signup_disabled.
 */
export async function rejectTakenEmail(
  deps: Deps<'config' | 'emails' | 'otp'>,
  trx: Trx,
  address: string,
  links: LinkContext,
  now: Date,
): Promise<SignInOutcome> {
  if (deps.config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
  if (deps.config.AUTH_MAILER_AUTOCONFIRM) {
    return { state: 'rejected', error: providerEmailUnverified() }
  }
  await dryRunConfirmationEmail(deps, trx, address, links, now)
  return { state: 'rejected', error: providerEmailNeedsVerification() }
}

/**
 * Clears unverified credentials, except the identity, of an account confirmed without verification whose email the
 * provider verified. Returns the user; undefined for every other account.
 */
async function clearIfAutoconfirmed(
  { users }: Deps<'users'>,
  trx: Trx,
  found: MatchedAccount,
  { verified }: AccountEmails,
  now: Date,
): Promise<UserRecord | undefined> {
  const { user } = found
  if (found.isNew || !user.email || !verified.includes(user.email)) return undefined
  const { id, identity_data: metadata } = found.identity
  const retained = { keepIdentity: { id }, passwordHash: null, metadata }
  const isCleared = await clearAutoconfirmed(users, trx, user, user.email, retained, now)
  return isCleared ? findUserOrThrow(trx, user.id) : undefined
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
  deps: PolicyDeps,
  trx: Trx,
  user: UserRecord,
  { addresses: { primary }, context: { links } }: SignInAttempt,
  now: Date,
): Promise<SignInOutcome> {
  if (!deps.config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS) {
    if (user.email) await sendConfirmationMail(deps, trx, user, links, now)
    else if (primary) await requestFirstEmailConfirmation(deps, trx, user, primary, links, now)
    return { state: 'rejected', error: providerEmailNeedsVerification() }
  }
  if (user.email) await sendConfirmationMail(deps, trx, user, links, now).catch(ignoreTooSoon)
  return { state: 'accepted', user: await findUserOrThrow(trx, user.id), action: 'login' }
}

function ignoreTooSoon(error: unknown): void {
  if (error instanceof ApiError && error.status === 429) return
  throw error
}
