/** Limits concurrent and waiting hashes, so that memory and latency stay bounded. */
import { availableParallelism } from 'node:os'

import pLimit from 'p-limit'

import { hashQueueFull } from '../../../schemas/errors.ts'

/** Receives the result of each hash; durations are milliseconds. */
export interface HashWatch {
  ended(waitedMs: number, tookMs: number): void
  refused(): void
}

/** Throws hash_queue_full (503 with Retry-After) when the queue is full. */
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

/**
 * At low priority all cores and one more, so that no core waits until the event loop starts the next hash; otherwise one
 * core stays free for other requests.
 */
export function defaultConcurrency(hasLowPriority: boolean): number {
  const cores = availableParallelism()
  return hasLowPriority ? cores + 1 : Math.max(1, cores - 1)
}
