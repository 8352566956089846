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
    /** Hands a message over. Refusals leave no trace: a number that is refused at once could be chosen for that. */
    async set(handOver: () => Promise<unknown>): Promise<void> {
      const start = performance.now()
      await handOver()
      lastMs = performance.now() - start
    },

    /** Takes as long as the last message that was handed over: timers leave out what is less than a millisecond. */
    async keep(): Promise<void> {
      const end = performance.now() + lastMs
      if (lastMs > timerMs) await sleep(lastMs - timerMs)
      while (performance.now() < end) await turn()
    },
  }
}
