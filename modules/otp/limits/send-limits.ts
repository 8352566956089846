/** Minimum intervals per recipient. They apply to unknown recipients too, so that waiting reveals nothing. */
import { createHmac, type KeyObject } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Db } from '../../../db/core/database.ts'
import {
  deleteSendInterval,
  findSendWait,
  reserveSendInterval,
} from '../../../db/limits/send-limits.ts'
import { repeatTooSoon, sentTooRecently } from '../../../schemas/errors.ts'
import {
  channelLimits,
  repeats,
  type SendChannel,
  type SendPolicy,
  type SendPurpose,
} from './channels.ts'
import { addQuotaGauge } from './send-quotas.ts'

/** The configured limits, and a gauge of the remaining quota. */
export function createSendPolicy(
  app: Pick<FastifyInstance, 'config' | 'db' | 'encryption' | 'telemetry'>,
): SendPolicy {
  const { config, encryption } = app
  const channels = channelLimits(config)
  addQuotaGauge(app, channels)
  return { sendKey: encryption.deriveKey('send limits'), channels }
}

/**
 * The key of an interval per client, for requests by clients that need not own the address: one client must not delay
 * the requests of another.
 */
export function perClientInterval(address: string, network: string | undefined): string {
  return network ? `${address}\n${network}` : address
}

/** Throws over_email_send_rate_limit or over_sms_send_rate_limit within the interval. */
export async function reserveInterval(
  app: FastifyInstance,
  db: Db,
  channel: SendChannel,
  purpose: SendPurpose,
  address: string,
  now: Date,
): Promise<void> {
  const seconds = app.otp.channels[channel].intervalSeconds(purpose)
  if (seconds === 0) return
  const hashPurpose = (what: SendPurpose) => hashRecipient(app.otp.sendKey, channel, what, address)
  const repeated = repeats[purpose]
  const interval = {
    key: hashPurpose(purpose),
    others: repeated ? [hashPurpose(repeated)] : [],
    seconds,
  }
  const wait = await reserveSendInterval(db, interval, now)
  if (wait > 0) throw sentTooRecently(channel, wait)
}

/** Checks without reserving. */
export async function checkInterval(
  app: FastifyInstance,
  db: Db,
  channel: SendChannel,
  purpose: SendPurpose,
  address: string,
  now: Date,
): Promise<void> {
  const seconds = app.otp.channels[channel].intervalSeconds(purpose)
  if (seconds === 0) return
  const key = hashRecipient(app.otp.sendKey, channel, purpose, address)
  const wait = await findSendWait(db, { key, seconds }, now)
  if (wait > 0) throw sentTooRecently(channel, wait)
}

/**
 * For resends of messages that only the user can have requested. Checked by the worker, because a rejected request
 * would reveal the original request to an unauthenticated client. Throws RepeatTooSoon.
 */
export async function checkRepeatInterval(
  app: FastifyInstance,
  db: Db,
  channel: SendChannel,
  repeated: SendPurpose,
  address: string,
  now: Date,
): Promise<void> {
  const seconds = app.otp.channels[channel].intervalSeconds(repeated)
  const key = hashRecipient(app.otp.sendKey, channel, repeated, address)
  const wait = await findSendWait(db, { key, seconds }, now)
  if (wait > 0) throw repeatTooSoon(wait)
}

/** Releases the interval when nothing was sent. */
export function releaseInterval(
  app: FastifyInstance,
  db: Db,
  channel: SendChannel,
  purpose: SendPurpose,
  address: string,
): Promise<void> {
  return deleteSendInterval(db, hashRecipient(app.otp.sendKey, channel, purpose, address))
}

function hashRecipient(
  key: KeyObject,
  channel: SendChannel,
  purpose: SendPurpose,
  address: string,
): string {
  return createHmac('sha256', key).update(`${channel}\n${purpose}\n${address}`).digest('base64url')
}
