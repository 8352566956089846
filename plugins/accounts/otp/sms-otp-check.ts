/**
 * Who says whether a texted code is right: the operator for numbers with a fixed code, the provider where it makes
 * the codes itself, and else our own tokens. And for how long it may be.
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/database.ts'
import type { TokenRow, TokenType } from '../../../db/one-time-tokens.ts'
import { findNewestToken, takeFoundToken } from '../../../db/phone-tokens.ts'
import { countTokenGuess } from '../../../db/token-guesses.ts'
import { lockUser } from '../../../db/user-rows.ts'
import { findUserByPhone } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { isSame } from './constant-time.ts'
import { guessedAt, type TokenPolicy, takeCode } from './tokens.ts'

/** A code as somebody typed it, and for which purpose. */
export interface TypedCode {
  type: TokenType
  /** E.164 digits without the plus sign. */
  phone: string
  /** The audience of the person. */
  aud: string
  code: string
}

export type Judgement =
  | { by: 'operator' }
  /** The token the right code was sent for; undefined for a wrong one. */
  | { by: 'provider'; token: TokenRow | undefined }
  | { by: 'us' }

/** Whose code it was, and what for. */
export type SpentToken = Pick<TokenRow, 'user_id' | 'token_type' | 'relates_to'> & {
  /** Null when nothing was sent: the operator fixed the code. */
  token_hash: string | null
}

type Sms = Pick<FastifyInstance['sms'], 'testOtp' | 'verify'>
type Check = NonNullable<Sms['verify']>

/**
 * Asks whoever knows. Outside of a transaction, for a provider may take its time. Throws unexpected_failure
 * when that does not answer.
 */
export async function judgeSmsCode(
  { sms, ...policy }: { sms: Sms } & TokenPolicy,
  db: Db,
  typed: TypedCode,
  now: Date,
): Promise<Judgement> {
  const fixed = sms.testOtp(typed.phone, now)
  if (fixed !== undefined && isSame(fixed, typed.code)) return { by: 'operator' }
  if (!sms.verify) return { by: 'us' }
  return { by: 'provider', token: await askProvider(policy, db, sms.verify, typed, now) }
}

/** Spends the code. Undefined for a wrong, late or used one: the guess is counted, so commit before refusing. */
export async function takeSmsCode(
  policy: TokenPolicy,
  trx: Trx,
  { type, phone, aud, code }: TypedCode,
  judgement: Judgement,
  now: Date,
): Promise<SpentToken | undefined> {
  if (judgement.by === 'us') return takeCode(policy, trx, [type], { address: phone, code }, now)
  if (judgement.by === 'operator') {
    const user_id = await ownerOf(trx, type, phone, aud)
    if (!user_id) return undefined
    await lockUser(trx, user_id)
    const asked = await findNewestToken(trx, type, phone)
    const token_hash = asked?.token_hash ?? null
    return { user_id, token_type: type, relates_to: phone, token_hash }
  }
  if (!judgement.token) return undefined
  await lockUser(trx, judgement.token.user_id)
  return takeFoundToken(trx, judgement.token)
}

/** The provider's word counts for what we asked it to send, for as many guesses as our own codes allow. */
async function askProvider(
  policy: TokenPolicy,
  db: Db,
  check: Check,
  { type, phone, code }: TypedCode,
  now: Date,
): Promise<TokenRow | undefined> {
  const at = guessedAt(policy, phone)
  const live = await db.transaction().execute((trx) => countTokenGuess(trx, [type], at, now))
  const newest = await findNewestToken(db, type, phone)
  // Asked for unknown numbers too, so that the time of the answer tells nothing.
  const isRight = await check(phone, code)
  return isRight ? live.find(({ id }) => id === newest?.id) : undefined
}

/** The person at a number with a fixed code, whether or not anything was sent there. */
async function ownerOf(
  trx: Trx,
  type: TokenType,
  phone: string,
  aud: string,
): Promise<string | undefined> {
  if (type === 'phone_change_token') return (await findNewestToken(trx, type, phone))?.user_id
  return (await findUserByPhone(trx, phone, aud))?.id
}

/** A provider that makes the codes lets them live this long, whatever we are told of ours. */
const providersCodeSeconds = 600

/** How long a texted code lives, in seconds. */
export function smsSeconds({ config, sms }: House<'config' | 'sms'>): number {
  const ownSeconds = config.AUTH_SMS_OTP_EXP
  return sms.verify ? Math.max(ownSeconds, providersCodeSeconds) : ownSeconds
}
