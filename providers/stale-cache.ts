/** A cache that hands out an old value rather than none while its source is down. */
import { LRUCache } from 'lru-cache'

interface Copy<T> {
  value: T
  loadedAt: number
  freshUntil: number
}

interface StaleCache<T> {
  /** The value, loaded when older than the lifetime. Throws only when there never was one. */
  get(key: string, now: Date): Promise<T>
  /** The same, but loaded anew unless that was done less than `coolDownMs` ago. */
  renew(key: string, now: Date, coolDownMs: number): Promise<T>
}

const retryAfterMs = 30_000
/** Tenants are part of some keys and tokens name tenants, so the number is bounded. */
const maxEntries = 200

/** Ages are counted by the `now` of the callers, not by the clock of the cache. */
export function createStaleCache<T>(
  load: (key: string) => Promise<T>,
  lifetimeMs: number,
): StaleCache<T> {
  const copies = new LRUCache<string, Copy<T>, number>({
    max: maxEntries,
    // A load whose entry is evicted meanwhile still answers its callers.
    ignoreFetchAbort: true,
    async fetchMethod(key, old, { context: now }) {
      try {
        return { value: await load(key), loadedAt: now, freshUntil: now + lifetimeMs }
      } catch (error) {
        if (!old) throw error
        const freshUntil = now + Math.min(retryAfterMs, lifetimeMs)
        return { value: old.value, loadedAt: now, freshUntil }
      }
    },
  })

  /** Many sign-ins at once ask the provider once: a load under way is waited for. */
  async function loaded(key: string, now: number): Promise<T> {
    const copy = await copies.forceFetch(key, { context: now, forceRefresh: true })
    return copy.value
  }

  return {
    async get(key, now) {
      const copy = copies.get(key)
      return copy && now.getTime() < copy.freshUntil ? copy.value : loaded(key, now.getTime())
    },

    async renew(key, now, coolDownMs) {
      const copy = copies.get(key)
      if (copy && now.getTime() < copy.loadedAt + coolDownMs) return copy.value
      return loaded(key, now.getTime())
    },
  }
}
