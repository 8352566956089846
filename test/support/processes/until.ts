import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How long a test waits for background work. Not a measure of speed: a slow machine must not fail a test, and a test
 * that times out reports the missing condition before it is aborted.
 */
export const waitTimeoutMs = 60_000

interface Waiting {
  seconds?: number
  /** How often it looks, in milliseconds. */
  everyMs?: number
  /** The message of the error. */
  missing?: string
}

/** Polls for the first result that is neither undefined nor false. */
export async function until<Answer>(
  look: () => Answer | false | undefined | Promise<Answer | false | undefined>,
  {
    seconds = waitTimeoutMs / 1000,
    everyMs = 50,
    missing = 'the condition was not met in time',
  }: Waiting = {},
): Promise<Answer> {
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const response: Answer | false | undefined = await look()
    if (response !== undefined && response !== false) return response
    await sleep(everyMs)
  }
  throw new Error(missing)
}

/** Polls for the first result that is not empty. */
export function untilRows<Row>(read: () => Promise<Row[]>): Promise<Row[]> {
  return until(
    async () => {
      const rows = await read()
      return rows.length > 0 && rows
    },
    { missing: 'no row was found in time' },
  )
}
