/** When an event is sent again, and when it is given up. Times are milliseconds. */
import { backoff } from '../backoff.ts'

const retries = { firstMs: 5_000, longestMs: 3600_000 }
const rests = { firstMs: 5_000, longestMs: 60_000 }
const failuresOfDown = 3
const givenUpAfterMs = 3 * 24 * 3600_000

/** 5 s after the first attempt, twice as long after each, an hour at most. */
export function retryDelay(attempts: number, chance: number = Math.random()): number {
  return backoff(attempts, retries, chance)
}

/** After so many rounds without a success. One or two may be the fault of an event that it does not like. */
export const isDown = (failures: number): boolean => failures >= failuresOfDown

/** How long an endpoint is left alone then: at most a minute, so that a repaired one is found soon. */
export function restDelay(failures: number, chance: number = Math.random()): number {
  return isDown(failures) ? backoff(failures - failuresOfDown + 1, rests, chance) : 0
}

/** An event is tried for three days from its first attempt. */
export function isGivenUp(firstAttemptAt: Date, now: Date): boolean {
  return now.getTime() - firstAttemptAt.getTime() >= givenUpAfterMs
}
