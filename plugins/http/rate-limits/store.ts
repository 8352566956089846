/** Adapts the counters to the store interface of @fastify/rate-limit. */
import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit'

import type { Hits } from './local-counter.ts'

/** Adds a hit to a key of one limiter. */
export type CountHit = (key: string, windowMs: number) => Promise<Hits>

export function createStore(count: CountHit): FastifyRateLimitStoreCtor {
  return class Store implements FastifyRateLimitStore {
    incr(key: string, callback: Parameters<FastifyRateLimitStore['incr']>[1], windowMs: number) {
      count(key, windowMs).then(
        (hits) => callback(null, hits),
        (error) => callback(error),
      )
    }

    /** The key names the limiter, so one store serves all of them. */
    child(): FastifyRateLimitStore {
      return this
    }
  }
}
