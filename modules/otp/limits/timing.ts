/** Delays that hide whether a message was sent, or an account is known. */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** Assumed until this process has measured one. */
const initialMs = 250
/** Deliveries whose durations are kept. */
const kept = 50
/** A duration is varied by up to a tenth, in thousandths. */
const variation = 100
/** Tolerance of timers. */
const timerMs = 2

export type ResponsePadding = ReturnType<typeof createResponsePadding>

/** `choose` returns a random integer from 0 up to, not including, its argument. */
export function createResponsePadding(choose: (below: number) => number = randomInt) {
  const durations: number[] = []

  return {
    /**
     * Delivers a message and measures the duration. Rejections are not measured: a client could choose numbers that are
     * rejected immediately.
     */
    async measure(deliver: () => Promise<unknown>): Promise<void> {
      const start = performance.now()
      await deliver()
      durations.push(performance.now() - start)
      if (durations.length > kept) durations.shift()
    },

    /**
     * Waits for about the duration of one of the last deliveries. A client knows that of the last one if it was
     * its own, and would recognize it. Timers ignore fractions of a millisecond.
     */
    async wait(): Promise<void> {
      const ms = durations[choose(Math.max(durations.length, 1))] ?? initialMs
      const variedMs = (ms * (1000 - variation + choose(2 * variation + 1))) / 1000
      const end = performance.now() + variedMs
      if (variedMs > timerMs) await sleep(variedMs - timerMs)
      while (performance.now() < end) await turn()
    },
  }
}

/** In milliseconds. */
const maxPauseMs = 10

/**
 * Before a wrong code or password is rejected. The rejection takes up to 0.1 ms longer for a known account, because
 * rows are read. A random pause hides this within the permitted number of attempts.
 */
export async function pauseBeforeRejection(): Promise<void> {
  await sleep(randomInt(maxPauseMs + 1))
}
