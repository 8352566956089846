/** How long a message takes to be handed over, for answers that must not be quicker when nothing is sent. */
import { setTimeout as sleep } from 'node:timers/promises'

/** What providers usually take, until this process has seen one. */
const usualMs = 250

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

    /** Takes as long as the last message that was handed over. */
    keep: (): Promise<void> => sleep(lastMs),
  }
}
