/**
 * Batches the work of concurrent requests: while one batch is in progress, the next collects. A request that comes
 * alone is sent immediately, and no request waits for a timer.
 */
import DataLoader from 'dataloader'

import { RequestDeadline } from '../../observability/request-context/deadline.ts'
import { bindContext, withDeadline } from '../../observability/request-context/index.ts'

interface BatchOptions {
  /** In a larger batch, the first request would wait for the last. */
  maxBatchSize: number
  /** A batch that takes longer does not delay the next one; in milliseconds. */
  slowAfterMs: number
  /** The maximum duration of a request in milliseconds. No request waits for a batch after it. */
  maxDurationMs: number
}

/**
 * A function that loads a value by a batch. `loadAll` returns values or errors in the order of the keys. It is called after
 * the keys were requested, never before. No batch ends with the request that happened to begin it.
 */
export function createBatchLoader<Key, Value>(
  { maxBatchSize, slowAfterMs, maxDurationMs }: BatchOptions,
  loadAll: (keys: readonly Key[]) => Promise<(Value | Error)[]>,
): (key: Key) => Promise<Value> {
  const queue = createQueue()
  const loader = new DataLoader<Key, Value>(
    async (keys) => {
      const deadline = new RequestDeadline()
      const done = queue.whenDone()
      let timer = setTimeout(() => {
        done()
        timer = setTimeout(() => deadline.end(), maxDurationMs - slowAfterMs).unref()
      }, slowAfterMs).unref()
      try {
        return await withDeadline(deadline, () => loadAll(keys))
      } finally {
        clearTimeout(timer)
        done()
      }
    },
    // A cached value would be older than the request.
    { cache: false, maxBatchSize, batchScheduleFn: queue.add },
  )
  return (key) => loader.load(key)
}

/** Dispatches one batch at a time. */
function createQueue() {
  const waiting: (() => void)[] = []
  let isBusy = false

  function dispatchNext(): void {
    const dispatch = waiting.shift()
    isBusy = dispatch !== undefined
    if (dispatch) setImmediate(dispatch)
  }

  return {
    add(dispatch: () => void): void {
      // The statement belongs to the trace of a request that waits for it, not of the previous one.
      waiting.push(bindContext(dispatch))
      if (!isBusy) dispatchNext()
    },

    /** The returned function lets the next batch begin; further calls do nothing. */
    whenDone(): () => void {
      let isDone = false
      return () => {
        if (!isDone) dispatchNext()
        isDone = true
      }
    },
  }
}

interface BatchedLookup<Row> {
  /** Returns the rows of these ids in any order, without those that do not exist. */
  find: (ids: readonly string[]) => Promise<Row[]>
  getId: (row: Row) => string
  /** Whether an error may be caused by one row, and not by the statement or the database. */
  isRowError: (error: unknown) => boolean
  /** The maximum duration of a request in milliseconds. */
  maxDurationMs: number
}

const lookupLimits = { maxBatchSize: 64, slowAfterMs: 25 }

/**
 * A function that finds the row of a UUID in lower case. Its statement is sent after the call, so it sees everything that
 * was committed before.
 */
export function batchLookup<Row>(lookup: BatchedLookup<Row>) {
  const { maxDurationMs } = lookup
  return createBatchLoader<string, Row | undefined>({ ...lookupLimits, maxDurationMs }, (ids) =>
    findAll(lookup, ids),
  )
}

/** Returns rows in the order of the ids. A row that cannot be read fails its own requests only. */
async function findAll<Row>(
  { find, getId, isRowError }: BatchedLookup<Row>,
  ids: readonly string[],
): Promise<(Row | Error | undefined)[]> {
  const unique = [...new Set(ids)]
  try {
    const rows = new Map((await find(unique)).map((row) => [getId(row), row]))
    return ids.map((id) => rows.get(id))
  } catch (error) {
    if (unique.length === 1 || !isRowError(error)) throw error
    const pending = unique.map(async (id) => [id, await findOne(find, id)] as const)
    const found = new Map(await Promise.all(pending))
    return ids.map((id) => found.get(id))
  }
}

async function findOne<Row>(find: BatchedLookup<Row>['find'], id: string) {
  try {
    return (await find([id]))[0]
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
