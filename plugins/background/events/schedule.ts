/** When a delivery is retried and when it is abandoned. Times are milliseconds. */
import { backoff } from '../backoff.ts'

const retries = { firstMs: 5_000, maxMs: 3600_000 }
const rests = { firstMs: 5_000, maxMs: 60_000 }
const failuresOfDown = 3
const givenUpAfterMs = 3 * 24 * 3600_000

/** 5 s after the first attempt, doubled after each, at most one hour. */
export function getWebhookRetryDelay(attempts: number, chance: number = Math.random()): number {
  return backoff(attempts, retries, chance)
}

/** True after several batches without a success. One or two failures may be caused by a single event. */
export const isEndpointDown = (failures: number): boolean => failures >= failuresOfDown

/** How long an endpoint that is down is not called: at most a minute, so that recovery is noticed soon. */
export function restDelay(failures: number, chance: number = Math.random()): number {
  return isEndpointDown(failures) ? backoff(failures - failuresOfDown + 1, rests, chance) : 0
}

/** A delivery is retried for three days from its first attempt. */
export function isGivenUp(firstAttemptAt: Date, now: Date): boolean {
  return now.getTime() - firstAttemptAt.getTime() >= givenUpAfterMs
}
