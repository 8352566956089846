import { backoff } from '../../../background/backoff.ts'

const limits = { firstMs: 5_000, maxMs: 15 * 60_000 }

/**
 * Milliseconds until the next attempt: 5 s after the first, doubled after each, at most 15 minutes, so that email is
 * sent soon after an outage.
 */
export function getEmailRetryDelay(attempts: number, chance: number = Math.random()): number {
  return backoff(attempts, limits, chance)
}
