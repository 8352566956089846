/** Runs at most so many hashes at once and lets at most so many wait: memory and latency stay bounded. */
import pLimit from 'p-limit'

import { hashQueueFull } from '../../errors.ts'

/** Throws hash_queue_full (503 with Retry-After) instead of letting work pile up. */
export function createHashQueue(concurrency: number, maxWaiting: number) {
  const limit = pLimit(concurrency)
  return {
    run<T>(work: () => Promise<T>): Promise<T> {
      if (limit.pendingCount >= maxWaiting) throw hashQueueFull()
      return limit(work)
    },
    get waiting(): number {
      return limit.pendingCount
    },
  }
}
