/** When an event is sent again, and when it is given up. Times are milliseconds. */

const firstMs = 5_000
const longestMs = 3600_000
const longestRestMs = 60_000
const givenUpAfterMs = 3 * 24 * 3600_000

/** 5 s after the first attempt, twice as long after each, an hour at most. A fifth of it is chance, so that a crowd spreads out. */
export function retryDelay(attempts: number, chance: number = Math.random()): number {
  return spread(Math.min(firstMs * 2 ** Math.min(attempts - 1, 20), longestMs), chance)
}

/** After so many rounds without a success. One or two may be the fault of an event that it does not like. */
export const isDown = (failures: number): boolean => failures >= 3

/** How long an endpoint is left alone then: at most a minute, so that a repaired one is found soon. */
export function restDelay(failures: number, chance: number = Math.random()): number {
  if (!isDown(failures)) return 0
  return spread(Math.min(firstMs * 2 ** Math.min(failures - 3, 20), longestRestMs), chance)
}

/** An event is tried for three days from its first attempt. */
export function isGivenUp(firstAttemptAt: Date, now: Date): boolean {
  return now.getTime() - firstAttemptAt.getTime() >= givenUpAfterMs
}

function spread(delay: number, chance: number): number {
  return Math.round(delay * (0.9 + chance * 0.2))
}
