/**
 * One statement for all requests that wait for the same kind of row: while one is on its way, the next collects. A
 * request that waits alone is sent at once, and nothing waits for a timer.
 */
import DataLoader from 'dataloader'

import { withTimeLimit } from '../context.ts'
import { takeTurns } from '../db/turns.ts'

export interface SharedStatement<Row> {
  /** Rows of these ids, in any order; an id that nothing has is left out. */
  find: (ids: readonly string[]) => Promise<Row[]>
  idOf: (row: Row) => string
  /** Whether an error may be the fault of one row, and not of the statement or the database. */
  isOfOneRow: (error: unknown) => boolean
  /** How long one of the requests may take, in milliseconds: nobody waits any more for what takes longer. */
  longestMs: number
}

/** More in one statement would keep the first of them waiting for the last. */
const mostIds = 64

/** A statement that takes longer does not hold up the next one; in milliseconds. */
const slowAfterMs = 25

/**
 * A function that finds the row of a UUID in lower case. Its statement is sent after the call, never before, so that
 * it sees all that was committed until then.
 */
export function shareStatement<Row>(statement: SharedStatement<Row>) {
  const turns = takeTurns({ slowAfterMs, longestMs: statement.longestMs })
  const loader = new DataLoader<string, Row | undefined>(
    async (ids) => {
      const { limit, end } = turns.begin()
      try {
        return await withTimeLimit(limit, () => findEach(statement, ids))
      } finally {
        end()
      }
    },
    // A cache would answer from before a logout.
    { cache: false, maxBatchSize: mostIds, batchScheduleFn: turns.ask },
  )
  return (id: string) => loader.load(id)
}

/** In the order of the ids. One row that cannot be read fails for those who asked for it alone. */
async function findEach<Row>(
  { find, idOf, isOfOneRow }: SharedStatement<Row>,
  ids: readonly string[],
): Promise<(Row | Error | undefined)[]> {
  const wanted = [...new Set(ids)]
  try {
    const rows = new Map((await find(wanted)).map((row) => [idOf(row), row]))
    return ids.map((id) => rows.get(id))
  } catch (error) {
    if (wanted.length === 1 || !isOfOneRow(error)) throw error
    const alone = wanted.map(async (id) => [id, await findAlone(find, id)] as const)
    const found = new Map(await Promise.all(alone))
    return ids.map((id) => found.get(id))
  }
}

async function findAlone<Row>(find: SharedStatement<Row>['find'], id: string) {
  try {
    return (await find([id]))[0]
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
