/**
 * How often something may be sent to one address, and how much in an hour.
 * The address need not belong to anybody: unknown ones wait just as long, so that waiting tells nothing.
 */
import { createHmac, type KeyObject } from 'node:crypto'

import type { Db } from '../../../db/database.ts'
import {
  deleteSendInterval,
  findQuotaLeft,
  findQuotaWait,
  findSendWait,
  takeSendInterval,
  takeSendQuota,
} from '../../../db/send-limits.ts'
import { repeatTooSoon, sendQuotaExceeded, sentTooRecently } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import {
  channelLimits,
  repeats,
  type SendChannel,
  type SendLimits,
  type SendPurpose,
} from './send-channels.ts'

export interface SendPolicy {
  metrics: Pick<House<'telemetry'>['telemetry']['metrics'], 'count'>
  /** Of the hash under which an address is noted. */
  sendKey: KeyObject
  channels: SendLimits
}

type QuotaPolicy = Pick<SendPolicy, 'channels' | 'metrics'>

/** What the operator allows, and a gauge of what is left of it. */
export function createSendPolicy(
  house: House<'config' | 'db' | 'encryption' | 'telemetry'>,
): SendPolicy {
  const { config, encryption, telemetry } = house
  const channels = channelLimits(config)
  addGauge(house, channels)
  return { sendKey: encryption.deriveKey('send limits'), channels, metrics: telemetry.metrics }
}

/** Throws over_email_send_rate_limit or over_sms_send_rate_limit when this address must wait. */
export async function claimInterval(
  { sendKey, channels }: SendPolicy,
  db: Db,
  channel: SendChannel,
  purpose: SendPurpose,
  address: string,
  now: Date,
): Promise<void> {
  const seconds = channels[channel].intervalSeconds(purpose)
  if (seconds === 0) return
  const keyOf = (what: SendPurpose) => hashOf(sendKey, channel, what, address)
  const repeated = repeats[purpose]
  const interval = { key: keyOf(purpose), others: repeated ? [keyOf(repeated)] : [], seconds }
  const wait = await takeSendInterval(db, interval, now)
  if (wait > 0) throw sentTooRecently(channel, wait)
}

/**
 * For a repeat of what only somebody who is there can have asked for: whether it still waits for that is seen by the worker,
 * because a request that is refused would tell a stranger of it. Throws RepeatTooSoon.
 */
export async function checkRepeat(
  { sendKey, channels }: SendPolicy,
  db: Db,
  channel: SendChannel,
  repeated: SendPurpose,
  address: string,
  now: Date,
): Promise<void> {
  const seconds = channels[channel].intervalSeconds(repeated)
  const key = hashOf(sendKey, channel, repeated, address)
  const wait = await findSendWait(db, { key, seconds }, now)
  if (wait > 0) throw repeatTooSoon(wait)
}

/** Ends the wait of this address when nothing was sent after all. */
export function releaseInterval(
  { sendKey }: Pick<SendPolicy, 'sendKey'>,
  db: Db,
  channel: SendChannel,
  purpose: SendPurpose,
  address: string,
): Promise<void> {
  return deleteSendInterval(db, hashOf(sendKey, channel, purpose, address))
}

/**
 * Whether everybody together has sent enough, for a request of which nobody knows yet whether something comes of it.
 * Throws over_email_send_rate_limit or over_sms_send_rate_limit.
 */
export async function checkQuota(
  policy: QuotaPolicy,
  db: Db,
  channel: SendChannel,
  now: Date,
): Promise<void> {
  const { quota } = policy.channels[channel]
  if (!quota) return
  const wait = quota.count === 0 ? quota.seconds : await findQuotaWait(db, channel, quota, now)
  refuseSpent(policy, channel, wait)
}

/**
 * Counts one message. Throws over_email_send_rate_limit or over_sms_send_rate_limit when everybody together has sent
 * enough. Everybody who sends waits for this row until the transaction ends, so it comes late in one. Returns when the window
 * began that it counts to; undefined where there is no quota.
 */
export async function chargeQuota(
  policy: QuotaPolicy,
  db: Db,
  channel: SendChannel,
  now: Date,
): Promise<Date | undefined> {
  const { quota } = policy.channels[channel]
  if (!quota) return undefined
  const { count, seconds } = quota
  if (count === 0) refuseSpent(policy, channel, seconds)
  const { wait, windowBegan } = await takeSendQuota(db, channel, count, seconds, now)
  refuseSpent(policy, channel, wait)
  return windowBegan
}

/** `wait`: the seconds until there is more, 0 when there is some. */
function refuseSpent({ metrics }: QuotaPolicy, channel: SendChannel, wait: number): void {
  if (wait === 0) return
  metrics.count('postern.send_quota_refusals', { channel })
  throw sendQuotaExceeded(channel, wait)
}

function hashOf(
  key: KeyObject,
  channel: SendChannel,
  purpose: SendPurpose,
  address: string,
): string {
  return createHmac('sha256', key).update(`${channel}\n${purpose}\n${address}`).digest('base64url')
}

/** Of the channels that have a quota. */
function addGauge({ db, telemetry }: House<'db' | 'telemetry'>, limits: SendLimits): void {
  const left = async (channel: SendChannel) => {
    const { quota } = limits[channel]
    if (!quota) return []
    const value = await findQuotaLeft(db, channel, quota, new Date())
    return [{ value, labels: { channel } }]
  }
  telemetry.metrics.gauge('postern.send_quota.left', async () => [
    ...(await left('email')),
    ...(await left('sms')),
  ])
}
