/** A cache that hands out an old value rather than none while its source is down, silent or wrong. */
import { setTimeout as pause } from 'node:timers/promises'

import { LRUCache } from 'lru-cache'

interface Copy<T> {
  value: T
  loadedAt: number
  freshUntil: number
}

/** Gets the value anew. It is given the one there is, and throws for what is no better. */
export type Load<T> = (old: T | undefined) => Promise<T>

interface StaleCache<T> {
  /**
   * The value, loaded when older than the lifetime. With an old one to hand out, the load is waited for only so long;
   * it goes on, for those who ask later. Throws only when there never was a value.
   */
  get(key: string, now: Date, load: Load<T>, patienceMs?: number): Promise<T>
  /** The same, but loaded anew unless that was done less than `coolDownMs` ago. */
  renew(key: string, now: Date, load: Load<T>, coolDownMs: number): Promise<T>
}

interface StaleCacheOptions<T> {
  lifetimeMs: number
  /** Values that are known before anything was loaded: as good as old ones. */
  known?: ReadonlyMap<string, T>
}

const retryAfterMs = 30_000
const defaultPatienceMs = 1_000
/** Tenants are part of some keys and tokens name tenants, so the number is bounded. */
const maxEntries = 200

/** Ages are counted by the `now` of the callers, not by the clock of the cache. */
export function createStaleCache<T>({ lifetimeMs, known }: StaleCacheOptions<T>): StaleCache<T> {
  const copies = new LRUCache<string, Copy<T>, { now: number; load: Load<T> }>({
    max: maxEntries,
    // A load whose entry is evicted meanwhile still answers its callers.
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

  /** Many sign-ins at once ask the provider once: a load under way is waited for. */
  async function loaded(key: string, now: number, load: Load<T>): Promise<T> {
    const copy = await copies.forceFetch(key, { context: { now, load }, forceRefresh: true })
    return copy.value
  }

  return {
    async get(key, now, load, patienceMs = defaultPatienceMs) {
      const copy = copies.get(key)
      if (copy && now.getTime() < copy.freshUntil) return copy.value
      const loading = loaded(key, now.getTime(), load)
      const old = copy?.value ?? known?.get(key)
      if (old === undefined) return loading
      return Promise.race([loading, pause(patienceMs, old, { ref: false })])
    },

    async renew(key, now, load, coolDownMs) {
      const copy = copies.get(key)
      if (copy && now.getTime() < copy.loadedAt + coolDownMs) return copy.value
      return loaded(key, now.getTime(), load)
    },
  }
}
