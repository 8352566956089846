/**
 * Email changes: requested by the user, confirmed by the new address and, unless configured otherwise, by the current
 * one, in either order.
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/errors.ts'
import { upsertIdentity } from '../../db/identities/identities.ts'
import { findRequestingSession, setAsksEmailChange } from '../../db/sessions/session-proofs.ts'
import type { TokenType } from '../../db/tokens/one-time-tokens.ts'
import { consumeAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import { isTaken } from '../../db/users/identifier-owners.ts'
import { recomputeProviders, updateUser } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'
import { emailExists } from '../../schemas/errors.ts'
import { recordAccess } from '../access/index.ts'
import { checkRecipient, sendEmailChangeEmails } from '../emails/index.ts'
import { checkInterval, perClientInterval, reserveInterval } from '../otp/index.ts'
import type { LinkContext } from '../otp/links.ts'
import { revokeAllSessions } from '../sessions/index.ts'
import { emitEmailChanged, verifyEmail } from '../users/index.ts'
import { clearSharedAnonymousAccount, throttleNewIdentifier } from './new-identifier.ts'
import type { VerificationResult } from './verification-result.ts'

/** Throws email_exists when the address belongs to another user. */
export async function checkEmailFree(db: Db, user: UserRecord, email: string): Promise<void> {
  if (await isTaken(db, email, user.aud ?? '', user.id)) throw emailExists()
}

/** A checked request. */
interface EmailChangeRequest {
  email: string
  /** Whether an email is sent to the new address; the response must not reveal it. */
  reachesNew: boolean
}

/**
 * Checks the owner of the address, which counts as an attempt, and the send limits, without reserving them: a rejection
 * costs no waiting time. Throws email_exists, over_request_rate_limit, over_email_send_rate_limit,
 * email_provider_not_configured or email_address_not_authorized.
 */
export async function checkEmailChange(
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  email: string,
  network: string | undefined,
  now: Date,
): Promise<EmailChangeRequest> {
  const { emails } = app
  const needsNoConfirmation = isUnconfirmedChangeAllowed(app, user)
  if (!needsNoConfirmation) {
    checkRecipient(emails.policy, email)
    for (const [purpose, address] of listIntervals(user, email, network)) {
      await checkInterval(app, db, 'email', purpose, address, now)
    }
  }
  const taken = await isTaken(db, email, user.aud ?? '', user.id)
  const identifier = { isTaken: taken, takenError: emailExists(), needsNoConfirmation }
  return { email, reachesNew: await throttleNewIdentifier(app, db, user, identifier, now) }
}

/** The minimum interval applies to the user, and to the new address for this client. */
function listIntervals(user: UserRecord, email: string, network: string | undefined) {
  return [
    ['email_change', user.email || user.id],
    ['email_change_target', perClientInterval(email, network)],
  ] as const
}

/**
 * Sends the emails and reserves the intervals. The requesting session survives the change, others do not. Throws
 * over_email_send_rate_limit.
 */
export async function startEmailChange(
  app: FastifyInstance,
  trx: Trx,
  { user, session }: Pick<AuthContext, 'user' | 'session'>,
  { email, reachesNew }: EmailChangeRequest,
  context: LinkContext,
  now: Date,
): Promise<void> {
  if (session) await setAsksEmailChange(trx, user.id, session.session_id)
  if (isUnconfirmedChangeAllowed(app, user)) {
    await setEmail(app, trx, user, { email, isAgreedByCurrent: false, isAssumed: true }, now)
    return
  }
  for (const [purpose, address] of listIntervals(user, email, context.network)) {
    await reserveInterval(app, trx, 'email', purpose, address, now)
  }
  const change = { newEmail: email, requiresCurrent: requiresCurrent(app), reachesNew }
  await sendEmailChangeEmails(app, trx, user, change, context, now)
}

/** Sends the emails again, unless the address has been taken since. */
export async function repeatEmailChange(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  context: LinkContext,
  now: Date,
): Promise<void> {
  const newEmail = user.email_change
  if (!newEmail) return
  const reachesNew = !(await isTaken(trx, newEmail, user.aud ?? '', user.id))
  const change = { newEmail, requiresCurrent: requiresCurrent(app), reachesNew }
  await sendEmailChangeEmails(app, trx, user, change, context, now)
}

/** Confirms one of the addresses: the change is applied, or waits for the other one. Throws email_exists. */
export async function agreeToEmail(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  by: TokenType,
  now: Date,
): Promise<VerificationResult> {
  const email = user.email_change
  if (!email) return { state: 'rejected' }
  // With autoconfirm, either address may confirm for both.
  const { AUTH_MAILER_AUTOCONFIRM: autoconfirm } = app.config
  const needsBoth = requiresCurrent(app) && !autoconfirm && Boolean(user.email)
  if (needsBoth && user.email_change_confirm_status === 0) {
    await updateUser(trx, user.id, { email_change_confirm_status: 1 }, now)
    return { state: 'half', user }
  }
  // Confirmation by the current address does not verify the new one.
  const isNewVerified = needsBoth || autoconfirm || by === 'email_change_token_new'
  if (!isNewVerified) return { state: 'rejected' }
  const type = 'email_change_token_new'
  await clearSharedAnonymousAccount(
    app,
    trx,
    user,
    { provider: 'email', address: email, type },
    now,
  )
  const isAssumed = !needsBoth && by !== 'email_change_token_new'
  const agreed = { email, isAgreedByCurrent: needsBoth, isAssumed }
  const changed = await setEmail(app, trx, user, agreed, now)
  return { state: 'done', user: changed, type: 'email_change', action: 'user_modified' }
}

/** With autoconfirm: an anonymous user has no current address, and without a mail server no email can be sent. */
function isUnconfirmedChangeAllowed(
  { config, mailer }: FastifyInstance,
  user: UserRecord,
): boolean {
  return config.AUTH_MAILER_AUTOCONFIRM && (user.is_anonymous || !mailer.configured)
}

function requiresCurrent({ config }: FastifyInstance): boolean {
  return config.AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED
}

interface AgreedEmail {
  email: string
  isAgreedByCurrent: boolean
  /** The address counts as confirmed without verification. */
  isAssumed: boolean
}

/**
 * Sets the address and revokes all sessions except the requesting one, since a compromised session may be the reason
 * for the change. Throws email_exists when another user has it by now.
 */
async function setEmail(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { email, isAgreedByCurrent, isAssumed }: AgreedEmail,
  now: Date,
): Promise<UserRecord> {
  await checkEmailFree(trx, user, email)
  await upsertIdentity(trx, buildEmailIdentity(user.id, email), now)
  await recomputeProviders(trx, user.id, now)
  // The account may have had the address before, unverified.
  if (!isAssumed) await consumeAutoconfirmed(trx, user.id, email)
  const columns = { email, email_change: '', email_change_confirm_status: 0 }
  const proof = { columns, clearTokens: true, isAssumed }
  const changed = await verifyEmail(app, trx, user.id, proof, now).catch((error) => {
    throw isUniqueViolation(error) ? emailExists() : error
  })
  const access = { user, grant: { kind: 'email' }, isEstablished: isAgreedByCurrent } as const
  await recordAccess(app, trx, access, now)
  if (user.email) {
    const except = await findRequestingSession(trx, user.id)
    await revokeAllSessions(app, trx, user.id, { except, keepsUnopened: true }, now)
  }
  await emitEmailChanged(app, trx, user, email, now)
  return changed
}

function buildEmailIdentity(userId: string, email: string) {
  const identity_data = { sub: userId, email, email_verified: true, phone_verified: false }
  return { user_id: userId, provider: 'email', provider_id: userId, identity_data }
}
