const firstMs = 5_000
const longestMs = 15 * 60_000

/**
 * Milliseconds until the next attempt: 5 s after the first, twice as long after each, 15 minutes at most,
 * so that mail follows a repaired mail server soon. A fifth of it is chance, so that a crowd spreads out.
 */
export function retryDelay(attempts: number, chance: number = Math.random()): number {
  const delay = Math.min(firstMs * 2 ** Math.min(attempts - 1, 20), longestMs)
  return Math.round(delay * (0.9 + chance * 0.2))
}
