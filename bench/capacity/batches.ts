/** Like plugins/database/driver/batch-loader.ts: requests that arrive while a batch runs form the next one. */
import { commitLimits, lookupLimits } from '../../plugins/database/driver/index.ts'
import type { Clock } from './resources.ts'

/** Session lookups, and changes that share a commit. */
export const batchLimits = { lookup: lookupLimits, commit: commitLimits }
export type BatchKind = keyof typeof batchLimits

export type Batches = ReturnType<typeof createBatches>

/**
 * `begin` waits until the server's event loop gets to the batch: requests that arrive until then join it. `run` sends that many
 * requests to the database.
 */
export function createBatches(
  clock: Clock,
  { maxBatchSize, slowAfterMs }: typeof lookupLimits,
  begin: (then: () => void) => void,
  run: (size: number, done: () => void) => void,
) {
  const waiting: (() => void)[] = []
  let isBusy = false
  let count = 0
  let members = 0

  function next(): void {
    isBusy = waiting.length > 0
    if (isBusy) begin(send)
  }

  function send(): void {
    const batch = waiting.splice(0, maxBatchSize)
    count += 1
    members += batch.length
    let isOver = false
    const over = () => {
      if (!isOver) next()
      isOver = true
    }
    clock.after(slowAfterMs, over)
    run(batch.length, () => {
      for (const then of batch) then()
      over()
    })
  }

  return {
    join(then: () => void): void {
      waiting.push(then)
      if (!isBusy) next()
    },
    averageSize: () => members / count,
  }
}
