/** Reauthentication of a signed-in user by a code sent to their email or phone. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import type { SessionProof } from '../../db/sessions/session-proofs.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { otpExpired, reauthenticationNotValid } from '../../schemas/errors.ts'
import { readTypedCode } from '../../schemas/values/typed-code.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'
import { checkRecipient, sendReauthenticationEmail } from '../emails/index.ts'
import {
  consumeOtpCode,
  consumeSmsOtp,
  reserveInterval,
  storeSms,
  throttleAttempt,
  verifySmsOtp,
} from '../otp/index.ts'
import type { SentCode } from '../otp/sms-otp.ts'
import type { SmsOtpResult } from '../otp/sms-otp-check.ts'
import { loadProof } from './session-proofs.ts'

const type = 'reauthentication_token' as const

/** The recipient of the code: the email, or the phone of a user without one. Undefined where both are too new. */
export async function findNonceRecipient(
  db: Db,
  user: UserRecord,
  now: Date,
): Promise<'email' | 'phone' | undefined> {
  return chooseRecipient(user, await loadProof(db, { user, session: undefined }, now))
}

function chooseRecipient({ email, phone }: UserRecord, { added }: SessionProof) {
  if (email && added.email === undefined) return 'email'
  return phone && added.phone === undefined ? 'phone' : undefined
}

/** Sends the code by email; returns the message id. Throws over_email_send_rate_limit. */
export async function sendReauthentication(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { ip, now }: AuditContext,
): Promise<string> {
  const address = user.email ?? ''
  checkRecipient(app.emails.policy, address)
  const messageId = crypto.randomUUID()
  await reserveInterval(app, trx, 'email', 'reauthentication', address, now)
  await recordAudit(app.audit, trx, 'user_reauthenticate_requested', user, { ip, now })
  await sendReauthenticationEmail(app, trx, user, messageId, now)
  return messageId
}

/** Stores a code sent by SMS. */
export async function acceptSentReauthentication(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  sent: SentCode,
  { ip, now }: AuditContext,
): Promise<void> {
  await storeSms(app, trx, user.id, sent, now)
  await recordAudit(app.audit, trx, 'user_reauthenticate_requested', user, { ip, now })
}

interface Typed {
  user: UserRecord
  nonce: string
  /** The channel. */
  to: 'email' | 'phone'
}

/** Verifies a code at its provider, outside of a transaction. */
async function verifyNonce(
  app: FastifyInstance,
  db: Db,
  { user, nonce, to }: Typed,
  now: Date,
): Promise<SmsOtpResult> {
  const { phone, aud } = user
  if (to === 'email' || !phone) return { by: 'us' }
  return verifySmsOtp(app, db, { type, phone, aud: aud ?? '', code: nonce }, now)
}

/**
 * Consumes the code. Returns false for a wrong, expired or consumed one: the attempt is counted, so commit before
 * rejecting.
 */
async function acceptsNonce(
  app: FastifyInstance,
  trx: Trx,
  { user, nonce, to }: Typed,
  otpResult: SmsOtpResult,
  now: Date,
): Promise<boolean> {
  const { email, phone } = user
  const typed = { type, phone: phone ?? '', aud: user.aud ?? '', code: nonce }
  const token =
    to === 'email'
      ? await consumeOtpCode(app, trx, [type], { address: email ?? '', code: nonce }, now)
      : await consumeSmsOtp(app, trx, typed, otpResult, now)
  return token?.user_id === user.id
}

/**
 * Consumes a correct nonce. Attempts are counted per user, across all requested codes. Throws
 * reauthentication_not_valid, otp_expired or over_request_rate_limit.
 */
export async function verifyReauthenticationNonce(
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  nonce: string,
  now: Date,
): Promise<void> {
  const to = await findNonceRecipient(db, user, now)
  if (!to) throw reauthenticationNotValid()
  const attempt = await throttleAttempt(app, db, { kind: 'nonce', account: user.id }, now)
  const tried = await attempt.check(
    db,
    () => tryNonce(app, db, { user, nonce: readTypedCode(nonce), to }, now),
    ({ isRight }) => isRight,
  )
  if (tried.isRight) return
  throw tried.by === 'provider' ? otpExpired() : reauthenticationNotValid()
}

async function tryNonce(
  app: FastifyInstance,
  db: Db,
  typed: Typed,
  now: Date,
): Promise<{ isRight: boolean; by: SmsOtpResult['by'] }> {
  const otpResult = await verifyNonce(app, db, typed, now)
  const isRight = await db
    .transaction()
    .execute((trx) => acceptsNonce(app, trx, typed, otpResult, now))
  return { isRight, by: otpResult.by }
}
