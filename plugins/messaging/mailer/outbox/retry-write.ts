import { setTimeout as pause } from 'node:timers/promises'

const firstPauseMs = 200
const maxPauseMs = 5_000
const maxDurationMs = 4 * 60_000

/**
 * Retries `write` until it succeeds, so that the result of an attempt is stored after a lost database returns. Throws
 * its last error after four minutes, or when the server has to stop.
 */
export async function retryWrite(write: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + maxDurationMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await write()
    } catch (error) {
      if (signal.aborted || performance.now() > deadline) throw error
      await pause(pauseMs, undefined, { signal }).catch(() => {})
    }
  }
}
