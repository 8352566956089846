import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How long a test waits for what is to happen in the background. It says nothing of how quick that should be: a slow
 * machine with other things to do must not fail a test, and one that waits in vain says what for before it is ended.
 */
export const patienceMs = 60_000

/** The first answer that is not empty, for what happens in the background and tells nobody. */
export async function until<Row>(read: () => Promise<Row[]>): Promise<Row[]> {
  for (const end = performance.now() + patienceMs; performance.now() < end; await sleep(50)) {
    const rows = await read()
    if (rows.length > 0) return rows
  }
  return assert.fail('nothing came')
}
