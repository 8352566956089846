/** Longer than one collection, shorter than the interval between two. */
const sharedMs = 1_000

/** Lets several gauges share one statement: its result serves the whole collection. */
export function shareReading<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let last: { at: number; value: Promise<Value> } | undefined
  return () => {
    const now = performance.now()
    if (!last || now - last.at > sharedMs) last = { at: now, value: read() }
    return last.value
  }
}
