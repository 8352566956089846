/**
 * Verifies SMS codes: a test OTP of the operator, the provider where it generates the codes, otherwise our own tokens.
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { countTokenAttempt } from '../../db/tokens/attempts.ts'
import type { TokenRow, TokenType } from '../../db/tokens/one-time-tokens.ts'
import { consumePhoneToken, findNewestToken } from '../../db/tokens/pending-changes.ts'
import { lockUser } from '../../db/users/update-user.ts'
import { findUserByPhone } from '../../db/users/users.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'
import { consumeOtpCode, findAttemptTarget } from './tokens.ts'

/** A typed code and its purpose. */
interface TypedCode {
  type: TokenType
  /** E.164 digits without the plus sign. */
  phone: string
  /** The audience of the user. */
  aud: string
  code: string
}

export type SmsOtpResult =
  | { by: 'operator' }
  /** The token of the code; undefined for a wrong one. */
  | { by: 'provider'; token: TokenRow | undefined }
  | { by: 'us' }

/** The user and purpose of the code. */
export type ConsumedToken = Pick<TokenRow, 'user_id' | 'token_type' | 'relates_to'> & {
  /** Null for a test OTP, which was not sent. */
  token_hash: string | null
}

type Sms = Pick<FastifyInstance['sms'], 'testOtp' | 'verify'>
type Check = NonNullable<Sms['verify']>

/**
 * Verifies the code outside of a transaction, since a provider may be slow. Throws unexpected_failure when it is
 * unavailable.
 */
export async function verifySmsOtp(
  app: FastifyInstance,
  db: Db,
  typed: TypedCode,
  now: Date,
): Promise<SmsOtpResult> {
  const fixed = app.sms.testOtp(typed.phone, now)
  if (fixed !== undefined && isEqualInConstantTime(fixed, typed.code)) return { by: 'operator' }
  if (!app.sms.verify) return { by: 'us' }
  return { by: 'provider', token: await checkWithProvider(app, db, app.sms.verify, typed, now) }
}

/**
 * Consumes the code. Undefined for a wrong, expired or consumed one: the attempt is counted, so commit before
 * rejecting.
 */
export async function consumeSmsOtp(
  app: FastifyInstance,
  trx: Trx,
  { type, phone, aud, code }: TypedCode,
  otpResult: SmsOtpResult,
  now: Date,
): Promise<ConsumedToken | undefined> {
  if (otpResult.by === 'us') {
    return consumeOtpCode(app, trx, [type], { address: phone, code }, now)
  }
  if (otpResult.by === 'operator') {
    const user_id = await findOwner(trx, type, phone, aud)
    if (!user_id) return undefined
    await lockUser(trx, user_id)
    const newest = await findNewestToken(trx, type, phone)
    const token_hash = newest?.token_hash ?? null
    return { user_id, token_type: type, relates_to: phone, token_hash }
  }
  if (!otpResult.token) return undefined
  await lockUser(trx, otpResult.token.user_id)
  return consumePhoneToken(trx, otpResult.token)
}

/** Valid only for codes that we requested; the attempt limit of our own codes applies. */
async function checkWithProvider(
  app: FastifyInstance,
  db: Db,
  check: Check,
  { type, phone, code }: TypedCode,
  now: Date,
): Promise<TokenRow | undefined> {
  const at = findAttemptTarget(app, phone)
  const live = await db.transaction().execute((trx) => countTokenAttempt(trx, [type], at, now))
  const newest = await findNewestToken(db, type, phone)
  // Called for unknown numbers too, so that the response time reveals nothing.
  const isRight = await check(phone, code)
  return isRight ? live.find(({ id }) => id === newest?.id) : undefined
}

/** The user with a test number, whether or not a message was sent. */
async function findOwner(
  trx: Trx,
  type: TokenType,
  phone: string,
  aud: string,
): Promise<string | undefined> {
  if (type === 'phone_change_token') return (await findNewestToken(trx, type, phone))?.user_id
  return (await findUserByPhone(trx, phone, aud))?.id
}

/** The lifetime of codes that a provider generates, whatever the configured one is. */
const providersCodeSeconds = 600

/** The lifetime of an SMS code in seconds. */
export function smsSeconds({ config, sms }: FastifyInstance): number {
  const ownSeconds = config.AUTH_SMS_OTP_EXP
  return sms.verify ? Math.max(ownSeconds, providersCodeSeconds) : ownSeconds
}
