/** Consumes one-time codes and links: the token types of each `type` of /verify, and their effects. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import type { TokenType } from '../../db/tokens/one-time-tokens.ts'
import { updateUser } from '../../db/users/update-user.ts'
import { findUser, isBanned, type UserRecord } from '../../db/users/users.ts'
import { otpExpired, userBanned, validationFailed } from '../../schemas/errors.ts'
import { loadProof, recordAccess } from '../access/index.ts'
import type { AuditAction } from '../audit/actions.ts'
import {
  consumeEmailLink,
  consumeOtpCode,
  consumeSmsOtp,
  findEmailLink,
  resetFailures,
} from '../otp/index.ts'
import type { ConsumedToken, SmsOtpResult } from '../otp/sms-otp-check.ts'
import { addEmailIdentity } from '../users/index.ts'
import { confirmMailbox, confirmPhone, confirmSignUp } from './confirm-identifier.ts'
import { agreeToEmail } from './email-change.ts'
import { agreeToPhone } from './phone-change.ts'
import type { VerificationResult } from './verification-result.ts'

const emailTypes = new Map<string, readonly TokenType[]>([
  ['signup', ['confirmation_token']],
  ['invite', ['confirmation_token']],
  ['recovery', ['recovery_token']],
  // The first code of a user who was created by its request confirms the sign-up.
  ['magiclink', ['confirmation_token', 'recovery_token']],
  ['email', ['confirmation_token', 'recovery_token']],
  ['email_change', ['email_change_token_new', 'email_change_token_current']],
])
const phoneTypes = new Map<string, TokenType>([
  ['sms', 'confirmation_token'],
  ['phone_change', 'phone_change_token'],
])

/** What was sent for a sign-in recovers no password: apps let the holder of a recovery choose a new one. */
const excludedPurpose = (type: string) => (type === 'recovery' ? ('sign_in' as const) : undefined)

/** A code with its recipient and audience, or the token of a link, which needs neither. */
export type TokenVerification = { type: string } & (
  | { linkToken: string; email?: string; aud?: string }
  | { email: string; aud: string; code: string }
  | { phone: string; aud: string; code: string; otpResult: SmsOtpResult }
)

export const emailChangeHalfConfirmed =
  'Confirmation link accepted. Please proceed to confirm link sent to the other email'

/** The token type of an SMS code for this type of /verify. */
export const getPhoneTokenType = (type: string): TokenType | undefined => phoneTypes.get(type)

/** Throws validation_failed for a type that no link has: SMS messages contain codes only. */
export function requireLinkType(type: string): void {
  if (!emailTypes.has(type)) throw validationFailed('Unsupported verification type')
}

/**
 * Consumes the token and applies its effect. A rejected attempt has been counted, so that the transaction must be
 * committed. Throws user_banned for a correct token, email_exists, and otp_expired for a user of another audience.
 */
export async function consumeOtp(
  app: FastifyInstance,
  trx: Trx,
  presented: TokenVerification,
  now: Date,
): Promise<VerificationResult> {
  const token = await consumeToken(app, trx, presented, now)
  const user = token && (await findUser(trx, token.user_id))
  if (!user || user.deleted_at || !isSentTo(user, token, presented.type)) {
    return { state: 'rejected' }
  }
  // Thrown, so that the token stays valid for a request with the right audience.
  if (presented.aud !== undefined && user.aud !== presented.aud) throw otpExpired()
  if (isBanned(user, now)) throw userBanned(403)
  // A code may have been guessed; a link cannot.
  if ('linkToken' in presented) await resetFailures(app, trx, user)
  return apply(app, trx, { token, user, type: presented.type }, now)
}

/** True for a valid link; nothing is consumed. */
export async function isOtpValid(
  app: FastifyInstance,
  db: Db,
  linkToken: string,
  type: string,
  now: Date,
): Promise<boolean> {
  const types = emailTypes.get(type) ?? []
  const link = { linkToken, excluded: excludedPurpose(type) }
  return (await findEmailLink(app, db, types, link, now)) !== undefined
}

/**
 * Sets a password that comes with the code or link, for a user without a password and without a second factor that it
 * would bypass. Not with a recently added identifier: the session that requested it may be compromised.
 */
export async function setFirstPassword(
  app: FastifyInstance,
  trx: Trx,
  { user, action }: { user: UserRecord; action: AuditAction },
  { hash, by }: { hash: string; by: 'email' | 'phone' },
  now: Date,
): Promise<void> {
  const isConfirmed = app.bearerAuth.isConfirmed({ user, session: undefined }, now)
  if (user.encrypted_password || !isConfirmed) return
  const { added } = await loadProof(trx, { user, session: undefined }, now)
  if (added[by] !== undefined) return
  await updateUser(trx, user.id, { encrypted_password: hash }, now)
  await addEmailIdentity(app, trx, user.id, now)
  if (firstActions.includes(action)) return
  // The address that received the code is older than a day.
  const access = { user, grant: { kind: 'password' }, isEstablished: true } as const
  await recordAccess(app, trx, access, now)
}

/** Actions that create the account: there are no earlier changes. */
const firstActions: readonly AuditAction[] = ['user_signedup', 'invite_accepted']

/** Consumes the token. Undefined for a wrong, expired or consumed token, and for one of another user. */
async function consumeToken(
  app: FastifyInstance,
  trx: Trx,
  presented: TokenVerification,
  now: Date,
): Promise<ConsumedToken | undefined> {
  if ('phone' in presented) {
    const type = phoneTypes.get(presented.type)
    return type && consumeSmsOtp(app, trx, { ...presented, type }, presented.otpResult, now)
  }
  const types = emailTypes.get(presented.type) ?? []
  const excluded = excludedPurpose(presented.type)
  if ('linkToken' in presented) {
    return consumeEmailLink(app, trx, types, { ...presented, excluded }, now)
  }
  const { email: address, code } = presented
  return consumeOtpCode(app, trx, types, { address, code, excluded }, now)
}

/**
 * An identifier that is no longer the user's verifies nothing, and a phone code verifies no email: the token of a link
 * in GoTrue's form can be derived from it.
 */
function isSentTo(user: UserRecord, token: ConsumedToken, type: string): boolean {
  const addresses: Record<TokenType, (string | null)[]> = {
    confirmation_token: [type === 'sms' ? user.phone : user.email],
    recovery_token: [user.email],
    reauthentication_token: [],
    email_change_token_new: [user.email_change],
    email_change_token_current: [user.email],
    phone_change_token: [user.phone_change],
  }
  return addresses[token.token_type].includes(token.relates_to)
}

/** The token of a sign-up or an invitation, by email or SMS. */
function confirm(
  app: FastifyInstance,
  trx: Trx,
  { token: { token_hash: tokenHash }, user, type }: ConsumedOtp,
  now: Date,
): Promise<VerificationResult> {
  if (type === 'sms') return confirmPhone(app, trx, user, tokenHash, now)
  const as = type === 'invite' ? 'invite' : 'signup'
  return confirmSignUp(app, trx, user, { type: as, tokenHash }, now)
}

interface ConsumedOtp {
  token: ConsumedToken
  user: UserRecord
  /** The type of /verify. */
  type: string
}

/** Applies the effect of the token. */
async function apply(
  app: FastifyInstance,
  trx: Trx,
  { token, user, type }: ConsumedOtp,
  now: Date,
): Promise<VerificationResult> {
  switch (token.token_type) {
    case 'confirmation_token':
      return confirm(app, trx, { token, user, type }, now)
    case 'recovery_token':
      return confirmMailbox(app, trx, user, type === 'recovery' ? 'recovery' : 'magiclink', now)
    case 'email_change_token_new':
    case 'email_change_token_current':
      return agreeToEmail(app, trx, user, token.token_type, now)
    case 'phone_change_token':
      return agreeToPhone(app, trx, user, now)
    default:
      return { state: 'rejected' }
  }
}
