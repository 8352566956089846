/** Delays responses that send no message, so that they take as long as a delivery. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** Assumed until this process has measured one. */
const initialMs = 250
/** Tolerance of timers. */
const timerMs = 2

export type ResponsePadding = ReturnType<typeof createResponsePadding>

export function createResponsePadding() {
  let lastMs = initialMs

  return {
    /**
     * Delivers a message and measures the duration. Rejections are not measured: a client could choose numbers that are
     * rejected immediately.
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
