/** How long a message takes to be handed over, for answers that must not be quicker when nothing is sent. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** What providers usually take, until this process has seen one. */
const usualMs = 250
/** By so much a timer may be late. */
const timerMs = 2

export type Pace = ReturnType<typeof createPace>

export function createPace() {
  let lastMs = usualMs

  return {
    /**
     * Hands a message over, and keeps how long that took. Not of refusals: somebody could choose numbers that are
     * refused at once.
     */
    async measure(handOver: () => Promise<unknown>): Promise<void> {
      const start = performance.now()
      await handOver()
      lastMs = performance.now() - start
    },

    /** As long as the last message took that was handed over. Timers leave out what is less than a millisecond. */
    async wait(): Promise<void> {
      const end = performance.now() + lastMs
      if (lastMs > timerMs) await sleep(lastMs - timerMs)
      while (performance.now() < end) await turn()
    },
  }
}
