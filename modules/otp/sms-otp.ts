/**
 * Codes by SMS: first the limits, then the provider, then the tables. No connection is held while the provider is
 * called, and a rejection changes nothing.
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import type { UserMetadata } from '../../db/tables/users.ts'
import type { TokenType } from '../../db/tokens/one-time-tokens.ts'
import { type UserChange, updateUser } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { releaseQuotaOnError } from './limits/send-quotas.ts'
import { smsSeconds } from './sms-otp-check.ts'
import {
  hasFixedCode,
  releaseSms,
  reserveSms,
  reserveSmsQuota,
  type SmsPurpose,
  type SmsReservation,
} from './sms-reservation.ts'
import { createToken, newCode } from './tokens.ts'

export type SmsChannel = ReturnType<FastifyInstance['sms']['parseChannel']>

/** A requested code. */
export interface SmsRequest extends SmsReservation {
  channel: SmsChannel
  /** The user; or the audience of the number's owner when it is unknown. */
  owner: UserRecord | { audience: string; metadata?: UserMetadata | null }
}

/** A sent code. */
export interface SentCode {
  purpose: SmsPurpose
  phone: string
  code: string
  /** Our UUID; the log relates it to the provider's. */
  messageId: string
}

const tokenTypes: Record<SmsPurpose, TokenType> = {
  confirmation: 'confirmation_token',
  phone_change: 'phone_change_token',
  reauthentication: 'reauthentication_token',
}

/**
 * Generates and sends a code; the interval must be reserved. Throws sms_send_failed, or over_sms_send_rate_limit when
 * the quota was exhausted concurrently.
 */
export async function deliverSms(
  app: FastifyInstance,
  db: Db,
  request: SmsRequest,
  messageId: string,
  now: Date,
): Promise<SentCode> {
  const { phone, channel, owner } = request
  const sent = newSms(app, request, messageId)
  if (hasFixedCode(app, phone, now)) return sent
  await orRelease(app, db, request, () =>
    app.otp.pace.measure(async () => {
      const taken = await reserveSmsQuota(app, db, request, now)
      const message = { phone, code: sent.code, channel, messageId, ...toReader(owner) }
      await releaseQuotaOnError(app, db, taken, () => app.sms.send(message))
    }),
  )
  return sent
}

/** Reserves and sends. Throws over_sms_send_rate_limit, sms_send_failed or unexpected_failure. */
export async function sendSms(
  app: FastifyInstance,
  db: Db,
  request: SmsRequest,
  now: Date,
): Promise<SentCode> {
  await db.transaction().execute((trx) => reserveSms(app, trx, request, now))
  return deliverSms(app, db, request, crypto.randomUUID(), now)
}

/** Sends nothing, but takes as long as `deliverSms` and counts against the same limits. Throws the same errors. */
export async function withholdSms(
  app: FastifyInstance,
  db: Db,
  request: SmsRequest,
  messageId: string,
  now: Date,
): Promise<SentCode> {
  const counted = { ...request, isCounted: true }
  await orRelease(app, db, request, () => waitAsLong(app, db, counted, now))
  return newSms(app, request, messageId)
}

/**
 * A dry run of `sendSms` with the same limits and duration, for a number that gets nothing. Throws the errors of the
 * reservations.
 */
export async function dryRunSms(
  app: FastifyInstance,
  db: Db,
  { isCounted, ...request }: SmsRequest & { isCounted: boolean },
  now: Date,
): Promise<void> {
  await db.transaction().execute((trx) => reserveSms(app, trx, request, now))
  await waitAsLong(app, db, { ...request, isCounted }, now)
}

function toReader(owner: SmsRequest['owner']) {
  if ('audience' in owner) return { aud: owner.audience, reader: owner.metadata }
  return { user: owner, reader: owner.raw_user_meta_data }
}

async function waitAsLong(
  app: FastifyInstance,
  db: Db,
  { isCounted, ...request }: SmsReservation & { isCounted: boolean },
  now: Date,
): Promise<void> {
  if (hasFixedCode(app, request.phone, now)) return
  const counted = isCounted ? reserveSmsQuota(app, db, request, now) : undefined
  await Promise.all([counted, app.otp.pace.wait()])
}

/** Stores the code, which replaces the previous one. Returns the changed columns. */
export async function storeSms(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  { purpose, phone, code }: SentCode,
  now: Date,
): Promise<UserChange> {
  const change = {
    [`${purpose}_sent_at`]: now,
    ...(purpose === 'phone_change' && { phone_change: phone }),
  }
  // The user's row is written before the token's, as everywhere: see lockOwnersAt in db/tokens/attempts.ts.
  await updateUser(trx, userId, change, now)
  const digits = app.config.AUTH_SMS_OTP_LENGTH
  const lifetime = { ttlSeconds: smsSeconds(app), pkce: false }
  const token = { userId, type: tokenTypes[purpose], address: phone, digits, code, ...lifetime }
  await createToken(app, trx, token, now)
  return change
}

function newSms(
  { config }: FastifyInstance,
  { purpose, phone }: SmsRequest,
  messageId: string,
): SentCode {
  return { purpose, phone, code: newCode(config.AUTH_SMS_OTP_LENGTH), messageId }
}

/** A failed delivery releases the interval. */
async function orRelease(
  app: FastifyInstance,
  db: Db,
  request: SmsRequest,
  send: () => Promise<void>,
): Promise<void> {
  try {
    await send()
  } catch (error) {
    await releaseSms(app, db, request)
    throw error
  }
}
