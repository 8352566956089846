import { backoff } from '../../backoff.ts'

const limits = { firstMs: 5_000, longestMs: 15 * 60_000 }

/**
 * Milliseconds until the next attempt: 5 s after the first, twice as long after each, 15 minutes at most, so that mail
 * follows a repaired mail server soon.
 */
export function retryDelay(attempts: number, chance: number = Math.random()): number {
  return backoff(attempts, limits, chance)
}
