/** Runs at most so many hashes at once and lets at most so many wait: memory and latency stay bounded. */
import pLimit from 'p-limit'

import { hashQueueFull } from '../../errors.ts'

/** Told of what becomes of each hash, in milliseconds. */
export interface HashWatch {
  ended(waitedMs: number, tookMs: number): void
  refused(): void
}

/** Throws hash_queue_full (503 with Retry-After) instead of letting work pile up. */
export function createHashQueue(concurrency: number, maxWaiting: number, watch?: HashWatch) {
  const limit = pLimit(concurrency)

  async function watched<T>(work: () => Promise<T>, watch: HashWatch): Promise<T> {
    const asked = performance.now()
    let begun = asked
    try {
      return await limit(() => {
        begun = performance.now()
        return work()
      })
    } finally {
      watch.ended(begun - asked, performance.now() - begun)
    }
  }

  return {
    run<T>(work: () => Promise<T>): Promise<T> {
      if (limit.activeCount >= concurrency && limit.pendingCount >= maxWaiting) {
        watch?.refused()
        throw hashQueueFull()
      }
      return watch ? watched(work, watch) : limit(work)
    },
    get waiting(): number {
      return limit.pendingCount
    },
  }
}
