/** Counts in fixed windows of time, in the memory of this process. */
import { LRUCache } from 'lru-cache'

export interface Hits {
  current: number
  /** Milliseconds until the window ends. */
  ttl: number
}

/** Adds a hit to the window of this key, which begins with its first hit. */
export type Count = (key: string, windowMs: number, now: number) => Hits

interface Window {
  hits: number
  endsAt: number
}

/** Beyond `maxKeys` the window hit least lately is forgotten: memory stays bounded whoever asks. */
export function createLocalCounter(maxKeys: number): Count {
  const windows = new LRUCache<string, Window>({
    // A size, not a number: space for so many would be taken at once.
    maxSize: maxKeys,
    sizeCalculation: () => 1,
  })

  function open(key: string, endsAt: number): Window {
    const window = { hits: 0, endsAt }
    windows.set(key, window)
    return window
  }

  return (key, windowMs, now) => {
    const known = windows.get(key)
    const window = known && known.endsAt > now ? known : open(key, now + windowMs)
    window.hits += 1
    return { current: window.hits, ttl: window.endsAt - now }
  }
}
