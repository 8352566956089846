import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** The first answer that is not empty, for what happens in the background and tells nobody. */
export async function until<Row>(read: () => Promise<Row[]>): Promise<Row[]> {
  for (let waited = 0; waited < 15_000; waited += 50) {
    const rows = await read()
    if (rows.length > 0) return rows
    await sleep(50)
  }
  return assert.fail('nothing came')
}
