import { createHmac } from 'node:crypto'

import type { Db } from '../../../db/database.ts'
import {
  deleteSendInterval,
  findQuotaWait,
  takeSendInterval,
  takeSendQuota,
} from '../../../db/send-limits.ts'
import { sendQuotaExceeded, sentTooRecently } from '../../../errors.ts'
import { repeats, type SendChannel, type SendLimits, type SendPurpose } from './channels.ts'

interface SendPolicy {
  /** Of the hash under which an address is noted. */
  key: Buffer
  channels: SendLimits
}

/** Throws over_email_send_rate_limit or over_sms_send_rate_limit when this address must wait. */
export async function claimInterval(
  { key, channels }: SendPolicy,
  db: Db,
  channel: SendChannel,
  purpose: SendPurpose,
  address: string,
  now: Date,
): Promise<void> {
  const seconds = channels[channel].intervalSeconds(purpose)
  if (seconds === 0) return
  const keyOf = (what: SendPurpose) => hashOf(key, channel, what, address)
  const repeated = repeats[purpose]
  const interval = { key: keyOf(purpose), others: repeated ? [keyOf(repeated)] : [], seconds }
  const wait = await takeSendInterval(db, interval, now)
  if (wait > 0) throw sentTooRecently(channel, wait)
}

/** Ends the wait of this address when nothing was sent after all. */
export function release(
  { key }: Pick<SendPolicy, 'key'>,
  db: Db,
  channel: SendChannel,
  purpose: SendPurpose,
  address: string,
): Promise<void> {
  return deleteSendInterval(db, hashOf(key, channel, purpose, address))
}

/**
 * Whether everybody together has sent enough, for a request of which nobody knows yet whether something comes of it.
 * Throws over_email_send_rate_limit or over_sms_send_rate_limit.
 */
export async function checkQuota(
  { channels }: Pick<SendPolicy, 'channels'>,
  db: Db,
  channel: SendChannel,
  now: Date,
): Promise<void> {
  const { quota } = channels[channel]
  if (!quota) return
  if (quota.count === 0) throw sendQuotaExceeded(channel, quota.seconds)
  const wait = await findQuotaWait(db, channel, quota.seconds, now)
  if (wait > 0) throw sendQuotaExceeded(channel, wait)
}

/**
 * Counts one message. Throws over_email_send_rate_limit or over_sms_send_rate_limit when everybody together has sent
 * enough. Everybody who sends waits for this row until the transaction ends, so it comes late in one.
 */
export async function chargeQuota(
  { channels }: Pick<SendPolicy, 'channels'>,
  db: Db,
  channel: SendChannel,
  now: Date,
): Promise<void> {
  const { quota } = channels[channel]
  if (!quota) return
  if (quota.count === 0) throw sendQuotaExceeded(channel, quota.seconds)
  const wait = await takeSendQuota(db, channel, quota.count, quota.seconds, now)
  if (wait > 0) throw sendQuotaExceeded(channel, wait)
}

function hashOf(key: Buffer, channel: SendChannel, purpose: SendPurpose, address: string): string {
  return createHmac('sha256', key).update(`${channel}\n${purpose}\n${address}`).digest('base64url')
}
