/** A cache that would rather hand out an old value than none when the source is down. */

interface Entry<T> {
  value: T
  loadedAt: number
  freshUntil: number
}

export interface StaleCache<T> {
  /** The value, loaded when older than the lifetime. Throws only when there never was one. */
  get(key: string, now: Date): Promise<T>
  /** The same, but loaded anew unless that was done less than `coolDownMs` ago. */
  renew(key: string, now: Date, coolDownMs: number): Promise<T>
}

const retryAfterMs = 30_000
const maxEntries = 200

export function createStaleCache<T>(
  load: (key: string) => Promise<T>,
  lifetimeMs: number,
): StaleCache<T> {
  const entries = new Map<string, Entry<T>>()
  const loading = new Map<string, Promise<T>>()

  async function loadOnce(key: string, now: number): Promise<T> {
    const old = entries.get(key)
    try {
      const value = await load(key)
      keep(key, { value, loadedAt: now, freshUntil: now + lifetimeMs })
      return value
    } catch (error) {
      if (!old) throw error
      keep(key, { ...old, loadedAt: now, freshUntil: now + Math.min(retryAfterMs, lifetimeMs) })
      return old.value
    }
  }

  function keep(key: string, entry: Entry<T>) {
    entries.delete(key)
    entries.set(key, entry)
    // Tenants are part of some keys and tokens name tenants, so the number is bounded.
    const oldest = entries.keys().next().value
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
  }

  /** Many sign-ins at once ask the provider once. */
  function shared(key: string, now: number): Promise<T> {
    const current = loading.get(key)
    if (current) return current
    const next = loadOnce(key, now).finally(() => loading.delete(key))
    loading.set(key, next)
    return next
  }

  return {
    async get(key, now) {
      const entry = entries.get(key)
      if (entry && now.getTime() < entry.freshUntil) return entry.value
      return shared(key, now.getTime())
    },

    async renew(key, now, coolDownMs) {
      const entry = entries.get(key)
      if (entry && now.getTime() < entry.loadedAt + coolDownMs) return entry.value
      return shared(key, now.getTime())
    },
  }
}
