export interface Backoff {
  firstMs: number
  longestMs: number
}

/**
 * Milliseconds to wait after so many failures: twice as long after each, up to the longest. A fifth of it is chance
 * (0 to 1), so that a crowd spreads out.
 */
export function backoff(failures: number, { firstMs, longestMs }: Backoff, chance: number): number {
  const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs)
  return Math.round(delay * (0.9 + chance * 0.2))
}
