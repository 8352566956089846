/** One batch for one endpoint: leases the due deliveries, sends them concurrently and stores the outcomes together. */
import {
  type Attempted,
  type LeasedDelivery,
  leaseDeliveries,
  recordAttempts,
} from '../../../db/events/deliveries.ts'
import {
  clearWebhookFailures,
  findWebhook,
  pauseWebhook,
  recordWebhookFailure,
  resumeWebhook,
  type WebhookRow,
} from '../../../db/events/webhooks.ts'
import type { Deps } from '../../define-plugin.ts'
import { backoff } from '../backoff.ts'
import { toMessage } from './message.ts'
import { listWebhookSecrets } from './secrets.ts'
import { type EventSendResult, sendEvent, timeLimitMs } from './send.ts'

export type DeliveryDeps = Deps<'config' | 'db' | 'encryption' | 'httpClient' | 'log' | 'telemetry'>

/**
 * Deliveries of different users, so their order is preserved; few enough to hold in memory with the largest metadata.
 */
const roundSize = 20
/** Added to the time limit of an attempt, to store its outcome. */
const leaseMarginMs = 5_000

/** Returns false when no more deliveries are due at this endpoint for now. */
export async function deliverBatch(deps: DeliveryDeps, webhookId: string): Promise<boolean> {
  const { config, db } = deps
  const now = new Date()
  const webhook = await findWebhook(db, webhookId)
  if (webhook?.state !== 'active' || (webhook.retry_at && webhook.retry_at > now)) {
    return false
  }
  const secrets = listWebhookSecrets(deps, webhook, now)
  if (secrets.length === 0) return false
  // While the endpoint is down, one event is sufficient to test it.
  const limit = isEndpointDown(webhook.failures) ? 1 : roundSize
  const leasedUntil = new Date(now.getTime() + timeLimitMs(config) + leaseMarginMs)
  const claimed = await leaseDeliveries(db, { webhookId, limit, leasedUntil, now })
  if (claimed.length === 0) return false
  const target = { url: webhook.url, secrets }
  const sent = await Promise.all(
    claimed.map(async (delivery) => ({
      delivery,
      ...(await sendEvent(deps, target, toMessage(delivery))),
    })),
  )
  return settle(deps, webhook, sent)
}

type Result = EventSendResult & { delivery: LeasedDelivery }

/** Stores the outcomes. Returns whether another batch should follow immediately. */
async function settle(
  deps: DeliveryDeps,
  webhook: WebhookRow,
  results: Result[],
): Promise<boolean> {
  const { db, log, telemetry } = deps
  const now = new Date()
  const outcomes = results.map((result) => toAttempted(result, now))
  await recordAttempts(db, webhook.id, outcomes, now)
  for (const { state } of outcomes) {
    telemetry.metrics.count('postern.webhook_deliveries', { outcome: state })
  }
  const dead = outcomes.filter(({ state }) => state === 'dead').length
  if (dead > 0) log.warn({ webhook: webhook.id, events: dead }, 'event deliveries abandoned')
  if (results.some(({ gone }) => gone)) {
    log.warn({ webhook: webhook.id }, 'webhook paused: responded with 410')
    await pauseWebhook(db, webhook.id, 'responded with 410 Gone', now)
    return false
  }
  if (results.some(({ accepted }) => accepted)) {
    if (isEndpointDown(webhook.failures)) await resumeWebhook(db, webhook.id, now)
    else if (webhook.failures > 0) await clearWebhookFailures(db, webhook.id)
    return true
  }
  const retryAfterMs = Math.max(...results.map(({ retryAfterMs }) => retryAfterMs))
  const restMs = Math.max(restDelay(webhook.failures + 1), retryAfterMs)
  await recordWebhookFailure(db, webhook.id, new Date(now.getTime() + restMs))
  return restMs === 0
}

function toAttempted({ delivery, answer, accepted }: Result, now: Date): Attempted {
  const { position, attempts, first_attempt_at } = delivery
  const retryAt = new Date(now.getTime() + getWebhookRetryDelay(attempts))
  const rejected = isGivenUp(first_attempt_at, now) ? 'dead' : 'waiting'
  return { position, attempts, state: accepted ? 'delivered' : rejected, due_at: retryAt, answer }
}

// When a delivery is retried and when it is abandoned. Times are milliseconds.

const retries = { firstMs: 5_000, maxMs: 3600_000 }

const rests = { firstMs: 5_000, maxMs: 60_000 }

const failuresOfDown = 3

const givenUpAfterMs = 3 * 24 * 3600_000

/** 5 s after the first attempt, doubled after each, at most one hour. */
export function getWebhookRetryDelay(attempts: number, chance: number = Math.random()): number {
  return backoff(attempts, retries, chance)
}

/** True after several batches without a success. One or two failures may be caused by a single event. */
const isEndpointDown = (failures: number): boolean => failures >= failuresOfDown

/** How long an endpoint that is down is not called: at most a minute, so that recovery is noticed soon. */
export function restDelay(failures: number, chance: number = Math.random()): number {
  return isEndpointDown(failures) ? backoff(failures - failuresOfDown + 1, rests, chance) : 0
}

/** A delivery is retried for three days from its first attempt. */
function isGivenUp(firstAttemptAt: Date, now: Date): boolean {
  return now.getTime() - firstAttemptAt.getTime() >= givenUpAfterMs
}
