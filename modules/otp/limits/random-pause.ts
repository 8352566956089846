import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** In milliseconds. */
const maxPauseMs = 10

/**
 * Before a wrong code or password is rejected. The rejection takes up to 0.1 ms longer for a known account, because
 * rows are read. A random pause hides this within the permitted number of attempts.
 */
export async function pauseBeforeRejection(): Promise<void> {
  await sleep(randomInt(maxPauseMs + 1))
}
