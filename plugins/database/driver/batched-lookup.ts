/** One statement for all requests that look up the same type of row by id. */
import { createBatchLoader } from './batch-loader.ts'

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
