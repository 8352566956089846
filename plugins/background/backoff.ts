interface Backoff {
  firstMs: number
  maxMs: number
}

/**
 * Milliseconds to wait after this many failures: doubled after each, up to the maximum. A fifth of it is random
 * (`chance`, 0 to 1), so that clients do not retry at the same time.
 */
export function backoff(failures: number, { firstMs, maxMs }: Backoff, chance: number): number {
  const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), maxMs)
  return Math.round(delay * (0.9 + chance * 0.2))
}
