/** Fixed-window counters in the memory of this process. */
import { LRUCache } from 'lru-cache'

export interface Hits {
  current: number
  /** Milliseconds until the window ends. */
  ttl: number
}

/** Adds a hit to the key's window, which begins with the first hit. */
type Count = (key: string, windowMs: number, now: number) => Hits

interface Window {
  hits: number
  endsAt: number
}

/** Beyond `maxKeys`, the least recently hit window is dropped, so that memory stays bounded. */
export function createLocalCounter(maxKeys: number): Count {
  const windows = new LRUCache<string, Window>({
    // `maxSize`, because `max` would allocate space for all entries at once.
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
