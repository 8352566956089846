/**
 * Statements that were slow in a group are sent alone for some time, which doubles each time that they are slow again.
 */

/** The maximum duration of a group in milliseconds. A trigger of the operator may take longer. */
const maxGroupMs = 50
/** The maximum duration of each statement of a group. */
const maxStatementMs = 5

const [initialBackoffMs, maxBackoffMs] = [250, 60_000]

interface Backoff {
  durationMs: number
  until: number
}

/** `clock` returns milliseconds since any fixed time. */
export function createBackoff(clock: () => number) {
  const backoffs = new Map<string, Backoff>()

  function record(text: string, startedAt: number, isSlow: boolean): void {
    const backoff = backoffs.get(text)
    // A group sent before the backoff ended does not extend it: a slow moment of the disk counts once.
    if (backoff && startedAt < backoff.until) return
    if (!isSlow) {
      backoffs.delete(text)
      return
    }
    const durationMs = backoff ? Math.min(backoff.durationMs * 2, maxBackoffMs) : initialBackoffMs
    backoffs.set(text, { durationMs, until: clock() + durationMs })
  }

  return {
    /** Whether the statement is sent alone. */
    applies: (text: string): boolean => clock() < (backoffs.get(text)?.until ?? 0),

    /** Runs a group of statements and records whether it was slow. */
    async measure<T>(texts: readonly string[], work: () => Promise<T>): Promise<T> {
      const startedAt = clock()
      try {
        return await work()
      } finally {
        const limitMs = Math.max(maxGroupMs, maxStatementMs * texts.length)
        const isSlow = clock() - startedAt > limitMs
        for (const text of new Set(texts)) record(text, startedAt, isSlow)
      }
    },
  }
}
