/** A cache that returns expired values while their source is unavailable. */
import { setTimeout as pause } from 'node:timers/promises'

import { LRUCache } from 'lru-cache'

interface Copy<T> {
  value: T
  loadedAt: number
  freshUntil: number
}

/** Loads a value. Receives the cached one, and throws when the new one must not replace it. */
export type Load<T> = (old: T | undefined) => Promise<T>

interface StaleCache<T> {
  /**
   * Returns the value, loaded when it has expired. With an expired value the load is awaited for at most `maxWaitMs`
   * and continues in the background. Throws only without any value.
   */
  get(key: string, now: Date, load: Load<T>, maxWaitMs?: number): Promise<T>
  /** Reloads the value, unless it was reloaded less than `coolDownMs` ago. */
  renew(key: string, now: Date, load: Load<T>, coolDownMs: number): Promise<T>
}

interface StaleCacheOptions<T> {
  lifetimeMs: number
  /** Initial values, treated as expired ones. */
  known?: ReadonlyMap<string, T>
}

const retryAfterMs = 30_000
const defaultMaxWaitMs = 1_000
/** Some keys contain tenants, which come from tokens, so their number must be limited. */
const maxEntries = 200

/** Ages are computed from the callers' `now`, not from the clock. */
export function createStaleCache<T>({ lifetimeMs, known }: StaleCacheOptions<T>): StaleCache<T> {
  const copies = new LRUCache<string, Copy<T>, { now: number; load: Load<T> }>({
    max: maxEntries,
    // The load of an evicted entry still returns to its callers.
    ignoreFetchAbort: true,
    async fetchMethod(key, copy, { context: { now, load } }) {
      const old = copy?.value ?? known?.get(key)
      try {
        return { value: await load(old), loadedAt: now, freshUntil: now + lifetimeMs }
      } catch (error) {
        if (old === undefined) throw error
        const freshUntil = now + Math.min(retryAfterMs, lifetimeMs)
        return { value: old, loadedAt: now, freshUntil }
      }
    },
  })

  /** Concurrent callers share one load. */
  async function loaded(key: string, now: number, load: Load<T>): Promise<T> {
    const copy = await copies.forceFetch(key, { context: { now, load }, forceRefresh: true })
    return copy.value
  }

  return {
    async get(key, now, load, maxWaitMs = defaultMaxWaitMs) {
      const copy = copies.get(key)
      if (copy && now.getTime() < copy.freshUntil) return copy.value
      const loading = loaded(key, now.getTime(), load)
      const old = copy?.value ?? known?.get(key)
      if (old === undefined) return loading
      return Promise.race([loading, pause(maxWaitMs, old, { ref: false })])
    },

    async renew(key, now, load, coolDownMs) {
      const copy = copies.get(key)
      if (copy && now.getTime() < copy.loadedAt + coolDownMs) return copy.value
      return loaded(key, now.getTime(), load)
    },
  }
}
