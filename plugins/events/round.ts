/** One round at one endpoint: what is due there is claimed, sent at the same time, and written down together. */
import { type ClaimedDelivery, claimDeliveries } from '../../db/webhook-deliveries.ts'
import { type Attempted, recordAttempts } from '../../db/webhook-outcomes.ts'
import {
  clearWebhookFailures,
  findWebhook,
  pauseWebhook,
  recordWebhookFailure,
  resumeWebhook,
  type WebhookRow,
} from '../../db/webhooks.ts'
import type { House } from '../define-plugin.ts'
import { toMessage } from './message.ts'
import { isDown, isGivenUp, restDelay, retryDelay } from './schedule.ts'
import { secretsOf } from './secrets.ts'
import { type Sent, send, timeLimitMs } from './send.ts'

export type RoundHouse = House<'config' | 'db' | 'encryption' | 'httpClient' | 'log' | 'telemetry'>

/** Of different people, so that their order is not touched; few enough to hold in memory with the largest metadata. */
const roundSize = 20
/** Beyond the time limit of an attempt, for writing down what came of it. */
const leaseMarginMs = 5_000

/** False when nothing more is to be done there for now. */
export async function deliverRound(house: RoundHouse, webhookId: string): Promise<boolean> {
  const { config, db } = house
  const now = new Date()
  const webhook = await findWebhook(db, webhookId)
  if (webhook?.state !== 'active' || (webhook.retry_at && webhook.retry_at > now)) {
    return false
  }
  const secrets = secretsOf(house, webhook, now)
  if (secrets.length === 0) return false
  // Where nothing is accepted, one event finds out as well as twenty.
  const limit = isDown(webhook.failures) ? 1 : roundSize
  const leasedUntil = new Date(now.getTime() + timeLimitMs(config) + leaseMarginMs)
  const claimed = await claimDeliveries(db, { webhookId, limit, leasedUntil, now })
  if (claimed.length === 0) return false
  const target = { url: webhook.url, secrets }
  const sent = await Promise.all(
    claimed.map(async (delivery) => ({
      delivery,
      ...(await send(house, target, toMessage(delivery))),
    })),
  )
  return settle(house, webhook, sent)
}

type Result = Sent & { delivery: ClaimedDelivery }

/** Writes the outcomes down. Returns whether the endpoint is worth another round at once. */
async function settle(house: RoundHouse, webhook: WebhookRow, results: Result[]): Promise<boolean> {
  const { db, log, telemetry } = house
  const now = new Date()
  const outcomes = results.map((result) => outcomeOf(result, now))
  await recordAttempts(db, webhook.id, outcomes, now)
  for (const { state } of outcomes) {
    telemetry.metrics.count('postern.webhook_deliveries', { outcome: state })
  }
  const dead = outcomes.filter(({ state }) => state === 'dead').length
  if (dead > 0) log.warn({ webhook: webhook.id, events: dead }, 'events were given up')
  if (results.some(({ gone }) => gone)) {
    log.warn({ webhook: webhook.id }, 'a webhook was paused: it answered 410')
    await pauseWebhook(db, webhook.id, 'it answered 410 Gone', now)
    return false
  }
  if (results.some(({ accepted }) => accepted)) {
    if (isDown(webhook.failures)) await resumeWebhook(db, webhook.id, now)
    else if (webhook.failures > 0) await clearWebhookFailures(db, webhook.id)
    return true
  }
  const asked = Math.max(...results.map(({ retryAfterMs }) => retryAfterMs))
  const restMs = Math.max(restDelay(webhook.failures + 1), asked)
  await recordWebhookFailure(db, webhook.id, new Date(now.getTime() + restMs))
  return restMs === 0
}

function outcomeOf({ delivery, answer, accepted }: Result, now: Date): Attempted {
  const { position, attempts, first_attempt_at } = delivery
  const retryAt = new Date(now.getTime() + retryDelay(attempts))
  const refused = isGivenUp(first_attempt_at, now) ? 'dead' : 'waiting'
  return { position, attempts, state: accepted ? 'delivered' : refused, due_at: retryAt, answer }
}
