/** Limits concurrent and waiting hashes, and so memory and latency. */
import { availableParallelism } from 'node:os'

import pLimit from 'p-limit'

import { hashQueueFull } from '../../../schemas/errors.ts'

/** Receives the result of each hash; durations are milliseconds. */
export interface HashObserver {
  ended(waitedMs: number, tookMs: number): void
  rejected(): void
}

/** Throws hash_queue_full (503 with Retry-After) when the queue is full. */
export function createHashQueue(concurrency: number, maxWaiting: number, observer?: HashObserver) {
  const limit = pLimit(concurrency)

  async function observed<T>(work: () => Promise<T>, observer: HashObserver): Promise<T> {
    const queuedAt = performance.now()
    let startedAt = queuedAt
    try {
      return await limit(() => {
        startedAt = performance.now()
        return work()
      })
    } finally {
      observer.ended(startedAt - queuedAt, performance.now() - startedAt)
    }
  }

  return {
    run<T>(work: () => Promise<T>): Promise<T> {
      if (limit.activeCount >= concurrency && limit.pendingCount >= maxWaiting) {
        observer?.rejected()
        throw hashQueueFull()
      }
      return observer ? observed(work, observer) : limit(work)
    },
    get waiting(): number {
      return limit.pendingCount
    },
  }
}

/**
 * At low priority one hash per core; otherwise one core stays free for other requests. More hashes than cores compete for
 * caches and memory bandwidth.
 */
export function defaultConcurrency(hasLowPriority: boolean): number {
  const cores = availableParallelism()
  return hasLowPriority ? cores : Math.max(1, cores - 1)
}
