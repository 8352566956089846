/** Concurrent requests share the result of one call. */

/**
 * Returns a function that calls `load` once for all callers of a key that wait at the same time. The call begins after
 * their requests, so that its result is never older. When it fails, for example because the request that began it
 * ended, the others call `load` themselves.
 */
export function shareCalls<Value>(
  load: (key: string) => Promise<Value>,
): (key: string) => Promise<Value> {
  const running = new Map<string, Promise<unknown>>()
  const waiting = new Map<string, Promise<Value>>()

  async function loadNext(key: string): Promise<Value> {
    await running.get(key)?.catch(() => {})
    waiting.delete(key)
    const loading = load(key)
    running.set(key, loading)
    try {
      return await loading
    } finally {
      if (running.get(key) === loading) running.delete(key)
    }
  }

  return (key) => {
    const shared = waiting.get(key)
    if (shared) return shared.catch(() => load(key))
    const next = loadNext(key)
    waiting.set(key, next)
    return next
  }
}
