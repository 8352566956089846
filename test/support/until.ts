import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How long a test waits for what is to happen in the background. It says nothing of how quick that should be: a slow
 * machine with other things to do must not fail a test, and one that waits in vain says what for before it is ended.
 */
export const patienceMs = 60_000

interface Waiting {
  seconds?: number
  /** How often it looks, in milliseconds. */
  everyMs?: number
  /** What it fails with. */
  missing?: string
}

/** The first answer that is neither undefined nor false, for what happens in the background and tells nobody. */
export async function until<Answer>(
  look: () => Answer | false | undefined | Promise<Answer | false | undefined>,
  { seconds = patienceMs / 1000, everyMs = 50, missing = 'it did not come to pass' }: Waiting = {},
): Promise<Answer> {
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const answer: Answer | false | undefined = await look()
    if (answer !== undefined && answer !== false) return answer
    await sleep(everyMs)
  }
  throw new Error(missing)
}

/** The first answer that is not empty. */
export function untilRows<Row>(read: () => Promise<Row[]>): Promise<Row[]> {
  return until(
    async () => {
      const rows = await read()
      return rows.length > 0 && rows
    },
    { missing: 'nothing came' },
  )
}
