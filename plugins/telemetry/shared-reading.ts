/** Collections are seconds apart, the gauges of one are not. */
const sharedMs = 1_000

/** For several gauges that are read off one statement: what it answered is the answer to all of one collection. */
export function shareReading<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let last: { at: number; value: Promise<Value> } | undefined
  return () => {
    const now = performance.now()
    if (!last || now - last.at > sharedMs) last = { at: now, value: read() }
    return last.value
  }
}
