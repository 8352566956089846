/**
 * Codes by text message. Limits first, then the provider, then our tables: a slow provider holds no database
 * connection, and where it refuses nothing has changed and the person may ask again at once.
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/database.ts'
import type { TokenType } from '../../../db/one-time-tokens.ts'
import { type UserChange, updateUser } from '../../../db/user-rows.ts'
import type { Metadata, UserRecord } from '../../../db/users.ts'
import { unexpectedFailure } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Pace } from './pace.ts'
import { orRefund } from './quota-refund.ts'
import {
  chargeQuota,
  checkQuota,
  claimInterval,
  releaseInterval,
  type SendPolicy,
} from './send-limits.ts'
import { smsSeconds } from './sms-otp-check.ts'
import { createToken, newCode, type TokenPolicy } from './tokens.ts'

export type SmsPurpose = 'confirmation' | 'phone_change' | 'reauthentication'
export type Channel = ReturnType<FastifyInstance['sms']['channelOf']>

/** A code that is wanted. */
export interface SmsRequest {
  purpose: SmsPurpose
  /** What it waits for, where that is not its purpose. */
  interval?: SmsPurpose | 'signup' | 'phone_change_repeat'
  /** E.164 digits without the plus sign. */
  phone: string
  channel: Channel
  /** Whose code it is; whoever has the number in this audience when nobody is known yet. */
  owner: UserRecord | { audience: string; metadata?: Metadata | null }
  /** Who asks, when that is not the number itself: they wait as long as it does. */
  askedBy?: string
}

/** As much of it as waits. */
export type SmsClaim = Pick<SmsRequest, 'purpose' | 'interval' | 'phone' | 'askedBy'>

/** A code on its way. */
export interface SentCode {
  purpose: SmsPurpose
  phone: string
  code: string
  /** A UUID of ours; the log ties it to the provider's. */
  messageId: string
}

const tokenTypes: Record<SmsPurpose, TokenType> = {
  confirmation: 'confirmation_token',
  phone_change: 'phone_change_token',
  reauthentication: 'reauthentication_token',
}

type SmsHouse = House<'config' | 'sms'> & SendPolicy & { pace: Pace }

/**
 * The wait, and whether anything is left of the quota. Throws over_sms_send_rate_limit, or unexpected_failure without a
 * provider.
 */
export async function claimSms(
  house: House<'sms'> & SendPolicy,
  trx: Trx,
  { purpose, interval = purpose, phone, askedBy }: SmsClaim,
  now: Date,
): Promise<void> {
  const { sms } = house
  const isFixed = hasFixedCode(house, phone, now)
  if (!sms.enabled && !isFixed) throw unexpectedFailure('Unable to get SMS provider')
  // In one order: two people who ask for each other's number would wait for each other.
  const waiting = askedBy ? [askedBy, phone].sort() : [phone]
  for (const address of waiting) await claimInterval(house, trx, 'sms', interval, address, now)
  if (!isFixed) await checkQuota(house, trx, 'sms', now)
}

/**
 * Makes a code and hands it to the provider; the wait is claimed. Throws sms_send_failed, or over_sms_send_rate_limit
 * when others have used the quota up meanwhile.
 */
export async function deliverSms(
  house: SmsHouse,
  db: Db,
  request: SmsRequest,
  messageId: string,
  now: Date,
): Promise<SentCode> {
  const { pace, sms } = house
  const { phone, channel, owner } = request
  const sent = newSms(house, request, messageId)
  if (hasFixedCode(house, phone, now)) return sent
  await orRelease(house, db, request, () =>
    pace.measure(async () => {
      const windowBegan = await chargeQuota(house, db, 'sms', now)
      const message = { phone, code: sent.code, channel, messageId, ...readerOf(owner) }
      await orRefund(house, db, windowBegan, () => sms.send(message))
    }),
  )
  return sent
}

/** Claims and delivers. Throws over_sms_send_rate_limit, sms_send_failed or unexpected_failure. */
export async function sendSms(
  house: SmsHouse,
  db: Db,
  request: SmsRequest,
  now: Date,
): Promise<SentCode> {
  await db.transaction().execute((trx) => claimSms(house, trx, request, now))
  return deliverSms(house, db, request, crypto.randomUUID(), now)
}

/** Takes as long as `deliverSms` and counts as much, but sends nothing: the code is nobody's. Throws what that throws. */
export async function withholdSms(
  house: SmsHouse,
  db: Db,
  request: SmsRequest,
  messageId: string,
  now: Date,
): Promise<SentCode> {
  const counted = { phone: request.phone, isCounted: true }
  await orRelease(house, db, request, () => takeAsLong(house, db, counted, now))
  return newSms(house, request, messageId)
}

/** Waits and takes as long as `sendSms`, for a number that gets nothing. Throws what claiming and counting throws. */
export async function rehearseSms(
  house: SmsHouse,
  db: Db,
  { isCounted, ...request }: SmsRequest & { isCounted: boolean },
  now: Date,
): Promise<void> {
  await db.transaction().execute((trx) => claimSms(house, trx, request, now))
  await takeAsLong(house, db, { phone: request.phone, isCounted }, now)
}

function readerOf(owner: SmsRequest['owner']) {
  if ('audience' in owner) return { aud: owner.audience, reader: owner.metadata }
  return { person: owner, reader: owner.raw_user_meta_data }
}

async function takeAsLong(
  house: SmsHouse,
  db: Db,
  { phone, isCounted }: { phone: string; isCounted: boolean },
  now: Date,
): Promise<void> {
  if (hasFixedCode(house, phone, now)) return
  const counted = isCounted ? chargeQuota(house, db, 'sms', now) : undefined
  await Promise.all([counted, house.pace.wait()])
}

/** From now on the code counts, and the one before it no more. Returns the columns it changed. */
export async function storeSms(
  house: House<'config' | 'sms'> & TokenPolicy,
  trx: Trx,
  userId: string,
  { purpose, phone, code }: SentCode,
  now: Date,
): Promise<UserChange> {
  const change = {
    [`${purpose}_sent_at`]: now,
    ...(purpose === 'phone_change' && { phone_change: phone }),
  }
  // The person's row before the token's, as everywhere: see lockOwnersAt in db/token-guesses.ts.
  await updateUser(trx, userId, change, now)
  const digits = house.config.AUTH_SMS_OTP_LENGTH
  const lifetime = { ttlSeconds: smsSeconds(house), pkce: false }
  const token = { userId, type: tokenTypes[purpose], address: phone, digits, code, ...lifetime }
  await createToken(house, trx, token, now)
  return change
}

function newSms({ config }: SmsHouse, { purpose, phone }: SmsRequest, messageId: string): SentCode {
  return { purpose, phone, code: newCode(config.AUTH_SMS_OTP_LENGTH), messageId }
}

/** Where sending fails, nobody has to wait for what never came. */
async function orRelease(
  policy: SendPolicy,
  db: Db,
  { purpose, interval = purpose, phone, askedBy }: SmsRequest,
  send: () => Promise<void>,
): Promise<void> {
  try {
    await send()
  } catch (error) {
    await releaseInterval(policy, db, 'sms', interval, phone)
    if (askedBy) await releaseInterval(policy, db, 'sms', interval, askedBy)
    throw error
  }
}

function hasFixedCode({ sms }: House<'sms'>, phone: string, now: Date): boolean {
  return sms.testOtp(phone, now) !== undefined
}
