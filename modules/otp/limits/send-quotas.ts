/**
 * Hourly send quotas. Each purpose has its own, so that sign-ups with invented addresses cannot exhaust recovery and
 * sign-in. One client, and one recipient, may use at most two thirds of a quota.
 */
import { createHmac, type KeyObject } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import {
  findQuotaLeft,
  findQuotaWait,
  type ReservedQuota,
  releaseSendQuotas,
  reserveSendQuotas,
  type SendQuota,
} from '../../../db/limits/send-quotas.ts'
import { sendQuotaExceeded } from '../../../schemas/errors.ts'
import type { QuotaPurpose, Rate, SendChannel, SendPolicy } from './channels.ts'

/** A counted message. */
export interface CountedMessage {
  purpose: QuotaPurpose
  /** The recipient. */
  to: string
  /** The network of the requesting client; undefined when unknown, as in jobs of an earlier release. */
  network: string | undefined
}

/** Smaller quotas are not divided. */
const smallestShare = 20

const channels: readonly SendChannel[] = ['email', 'sms']
const purposesByChannel: Record<SendChannel, readonly QuotaPurpose[]> = {
  email: ['signup', 'recovery', 'sign_in', 'email_change', 'invitation'],
  sms: ['signup', 'sign_in', 'phone_change'],
}

/**
 * Checks the quota for a request that may send a message. Throws over_email_send_rate_limit or
 * over_sms_send_rate_limit.
 */
export async function checkSendQuota(
  app: FastifyInstance,
  db: Db,
  channel: SendChannel,
  message: CountedMessage,
  now: Date,
): Promise<void> {
  rejectExhausted(app, channel, await findWait(app, db, channel, message, now))
}

/** True when no such message may be sent now. */
export async function isQuotaExhausted(
  app: FastifyInstance,
  db: Db,
  channel: SendChannel,
  message: CountedMessage,
  now: Date,
): Promise<boolean> {
  return (await findWait(app, db, channel, message, now)) > 0
}

async function findWait(
  app: FastifyInstance,
  db: Db,
  channel: SendChannel,
  message: CountedMessage,
  now: Date,
): Promise<number> {
  const quota = app.otp.channels[channel].quota(message.purpose)
  if (!quota) return 0
  if (quota.count === 0) return quota.seconds
  return findQuotaWait(db, listQuotas(app, channel, message, quota), quota.seconds, now)
}

/**
 * Reserves one message. Throws over_email_send_rate_limit or over_sms_send_rate_limit. The row of the purpose is locked
 * until the transaction ends, so call this late in the transaction. Returns the reservations; none without a quota.
 */
export async function reserveSendQuota(
  app: FastifyInstance,
  trx: Trx,
  channel: SendChannel,
  message: CountedMessage,
  now: Date,
): Promise<ReservedQuota[]> {
  const quota = app.otp.channels[channel].quota(message.purpose)
  if (!quota) return []
  if (quota.count === 0) rejectExhausted(app, channel, quota.seconds)
  const quotas = listQuotas(app, channel, message, quota)
  const { wait, taken } = await reserveSendQuotas(trx, quotas, quota.seconds, now)
  rejectExhausted(app, channel, wait)
  return taken
}

/**
 * Reserves one message of another kind: `of` names what is counted, such as an address. Returns the seconds to wait, 0
 * when it may be sent.
 */
export async function reserveOwnQuota(
  app: FastifyInstance,
  trx: Trx,
  { kind, of }: { kind: string; of: string },
  { count, seconds }: Rate,
  now: Date,
): Promise<number> {
  if (count === 0) return seconds
  const key = `${kind} ${hashText(app.otp.sendKey, of)}`
  return (await reserveSendQuotas(trx, [{ key, count }], seconds, now)).wait
}

/**
 * Sends a counted SMS and releases its reservation when the provider rejects it: otherwise a failing provider would
 * exhaust the quota for an hour.
 */
export async function releaseQuotaOnError(
  { sms }: FastifyInstance,
  db: Db,
  taken: readonly ReservedQuota[],
  send: () => Promise<void>,
): Promise<void> {
  try {
    await send()
  } catch (error) {
    if (sms.isUnsent(error)) await releaseSendQuotas(db, taken)
    throw error
  }
}

/** The row shared by all requests is locked last. */
function listQuotas(
  app: FastifyInstance,
  channel: SendChannel,
  { purpose, to, network }: CountedMessage,
  { count }: Rate,
): SendQuota[] {
  const share = Math.min(count, Math.max(smallestShare, Math.floor((count * 2) / 3)))
  const all = toKey(channel, purpose)
  const toShare = (what: string) => ({
    key: `${all} ${hashText(app.otp.sendKey, what)}`,
    count: share,
  })
  return [
    ...(network ? [toShare(`client\n${network}`)] : []),
    toShare(`address\n${to}`),
    { key: all, count },
  ]
}

const toKey = (channel: SendChannel, purpose: QuotaPurpose) => `${channel} ${purpose}`

function hashText(key: KeyObject, what: string): string {
  return createHmac('sha256', key).update(what).digest('base64url')
}

/** `wait`: the seconds until the quota has room, 0 when it has some. */
function rejectExhausted(app: FastifyInstance, channel: SendChannel, wait: number): void {
  if (wait === 0) return
  app.telemetry.metrics.count('postern.send_quota.exceeded', { channel })
  throw sendQuotaExceeded(channel, wait)
}

/** For channels with a quota. */
export function addQuotaGauge(
  { db, telemetry }: Pick<FastifyInstance, 'db' | 'telemetry'>,
  limits: SendPolicy['channels'],
): void {
  const left = async (channel: SendChannel, purpose: QuotaPurpose) => {
    const quota = limits[channel].quota(purpose)
    if (!quota) return []
    const all = { key: toKey(channel, purpose), count: quota.count }
    const value = await findQuotaLeft(db, all, quota.seconds, new Date())
    return [{ value, labels: { channel, purpose } }]
  }
  const counted = channels.flatMap((channel) =>
    purposesByChannel[channel].map((purpose) => [channel, purpose] as const),
  )
  telemetry.metrics.gauge('postern.send_quota.left', async () => {
    const values = await Promise.all(counted.map(([channel, purpose]) => left(channel, purpose)))
    return values.flat()
  })
}
