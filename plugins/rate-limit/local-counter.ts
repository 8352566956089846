/** Counts in fixed windows of time, in the memory of this process. */

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

/** Beyond `maxKeys` the window that began first is forgotten: memory stays bounded whoever asks. */
export function createLocalCounter(maxKeys: number): Count {
  const windows = new Map<string, Window>()

  function open(key: string, endsAt: number): Window {
    windows.delete(key)
    const oldest = windows.keys().next()
    if (windows.size >= maxKeys && !oldest.done) windows.delete(oldest.value)
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
