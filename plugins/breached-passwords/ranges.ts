/** Answers of the range API, kept for a while: common prefixes are asked for again and again. */

export interface RangeCacheOptions {
  maxEntries: number
  maxAgeMs: number
}

/** Least recently used goes first. Values are dropped at their age even when they are in use. */
export function createRangeCache<T>({ maxEntries, maxAgeMs }: RangeCacheOptions) {
  // A Map keeps the order of insertion, so the first key is the one unused for longest.
  const entries = new Map<string, { value: T; since: number }>()

  return {
    get(key: string, now: Date): T | undefined {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      if (now.getTime() - entry.since >= maxAgeMs) return undefined
      entries.set(key, entry)
      return entry.value
    },

    put(key: string, value: T, now: Date): void {
      entries.delete(key)
      entries.set(key, { value, since: now.getTime() })
      const [oldest] = entries.keys()
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    },
  }
}
