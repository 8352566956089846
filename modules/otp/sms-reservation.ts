/** Reserves the interval and quota of an SMS before it is sent. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { unexpectedFailure } from '../../schemas/errors.ts'
import type { QuotaPurpose } from './limits/channels.ts'
import { perClientInterval, releaseInterval, reserveInterval } from './limits/send-limits.ts'
import {
  type CountedMessage,
  checkSendQuota,
  isQuotaExhausted,
  reserveSendQuota,
} from './limits/send-quotas.ts'

export type SmsPurpose = 'confirmation' | 'phone_change' | 'reauthentication'

export interface SmsReservation {
  purpose: SmsPurpose
  /** The interval, if it is not that of the purpose. */
  interval?: SmsPurpose | 'signup' | 'phone_change_repeat'
  /** E.164 digits without the plus sign. */
  phone: string
  /** The requesting user, if it is not the number's owner: the interval applies to both. */
  requester?: string
  countsAs: QuotaPurpose
  /** The network of a client that need not own the number: the interval is per client. */
  network?: string | undefined
}

/**
 * Reserves the interval of a message that is sent immediately. Throws unexpected_failure without a provider, and
 * over_sms_send_rate_limit.
 */
export async function reserveSms(
  app: FastifyInstance,
  trx: Trx,
  reservation: SmsReservation,
  now: Date,
): Promise<void> {
  const isFixed = hasFixedCode(app, reservation.phone, now)
  if (!app.sms.enabled && !isFixed) throw unexpectedFailure('Unable to get SMS provider')
  await reserveSmsRepeat(app, trx, reservation, now)
}

/** The same for a message that may not be sent: also without a provider. Throws over_sms_send_rate_limit. */
export async function reserveSmsRepeat(
  app: FastifyInstance,
  trx: Trx,
  reservation: SmsReservation,
  now: Date,
): Promise<void> {
  const { purpose, interval = purpose, phone } = reservation
  for (const address of listIntervals(reservation)) {
    await reserveInterval(app, trx, 'sms', interval, address, now)
  }
  if (hasFixedCode(app, phone, now)) return
  await checkSendQuota(app, trx, 'sms', toCountedMessage(reservation), now)
}

/** Whether no such message may be sent now. A fixed code needs no message. */
export async function isSmsQuotaExhausted(
  app: FastifyInstance,
  db: Db,
  reservation: SmsReservation,
  now: Date,
): Promise<boolean> {
  if (hasFixedCode(app, reservation.phone, now)) return false
  return isQuotaExhausted(app, db, 'sms', toCountedMessage(reservation), now)
}

/** Releases the interval of a message that was not sent. */
export async function releaseSms(
  app: FastifyInstance,
  db: Db,
  reservation: SmsReservation,
): Promise<void> {
  const { purpose, interval = purpose } = reservation
  for (const address of listIntervals(reservation)) {
    await releaseInterval(app, db, 'sms', interval, address)
  }
}

/**
 * Counts the message outside of the transaction of the change, so that no connection is held while the provider is
 * called. Throws over_sms_send_rate_limit.
 */
export function reserveSmsQuota(
  app: FastifyInstance,
  db: Db,
  reservation: SmsReservation,
  now: Date,
) {
  const message = toCountedMessage(reservation)
  return db.transaction().execute((trx) => reserveSendQuota(app, trx, 'sms', message, now))
}

/** Whether the number has a test OTP and gets no message. */
export function hasFixedCode({ sms }: FastifyInstance, phone: string, now: Date): boolean {
  return sms.testOtp(phone, now) !== undefined
}

/** Sorted: two users who request each other's number must not deadlock. */
function listIntervals({ phone, requester, network }: SmsReservation): string[] {
  const own = perClientInterval(phone, network)
  return requester ? [requester, own].sort() : [own]
}

function toCountedMessage({ phone, countsAs, network }: SmsReservation): CountedMessage {
  return { purpose: countsAs, to: phone, network }
}
