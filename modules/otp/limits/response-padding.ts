/** Pads responses that must not be faster when nothing is sent, to the duration of a delivery. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** Assumed until this process has measured one. */
const usualMs = 250
/** Tolerance of timers. */
const timerMs = 2

export type ResponsePadding = ReturnType<typeof createResponsePadding>

export function createResponsePadding() {
  let lastMs = usualMs

  return {
    /**
     * Delivers a message and measures the duration. Rejections are not measured: a client could choose numbers that are
     * rejected at once.
     */
    async measure(deliver: () => Promise<unknown>): Promise<void> {
      const start = performance.now()
      await deliver()
      lastMs = performance.now() - start
    },

    /** Waits for the duration of the last delivery. Timers ignore fractions of a millisecond. */
    async wait(): Promise<void> {
      const end = performance.now() + lastMs
      if (lastMs > timerMs) await sleep(lastMs - timerMs)
      while (performance.now() < end) await turn()
    },
  }
}
