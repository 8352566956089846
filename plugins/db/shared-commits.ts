/**
 * Changes that are complete by themselves, of requests that come at once, in one transaction: one message to Postgres, one
 * commit and one wait for the disk in the place of one each. While one is on its way, the next collects; a change that
 * comes alone is sent at once and by itself, as any other statement.
 */
import DataLoader from 'dataloader'
import type { PostgresCursor, PostgresPool, PostgresQueryResult } from 'kysely'

import { bindContext, timeLimit, withTimeLimit } from '../context.ts'
import type { ConnectionPool, Outcome, Statement } from '../request-duration/limited-pool.ts'
import type { TimeLimit } from '../request-duration/time-limit.ts'
import { isOfOneStatement } from './error-scope.ts'
import { takeTurns } from './turns.ts'

/** More in one transaction would keep the first of them waiting for the last. */
const mostChanges = 16

/** What takes longer does not hold up the next; in milliseconds. Most disks are quicker. */
const slowAfterMs = 5

/** What takes longer, for a trigger of the operator's perhaps, keeps others waiting: together, and for each of them. */
const [slowTogetherMs, slowEachMs] = [50, 5]

/** For so long their statements are sent by themselves then; twice as long each time that they are slow again. */
const [firstRestMs, longestRestMs] = [250, 60_000]

export interface SharingOptions {
  /** No request takes longer; in milliseconds. */
  longestMs: number
  /** Milliseconds since some moment. */
  clock?: () => number
}

interface Change extends Statement {
  /** Of its request. */
  limit: TimeLimit | undefined
  /** Sends it by itself, for its request. */
  alone: () => Promise<Outcome>
}

/** How long a statement is sent by itself, and until when, in milliseconds. */
interface Rest {
  restMs: number
  until: number
}

/** What a change has come to, or its way there by itself, for which nobody else waits. */
type Ending = () => Outcome | Promise<Outcome>

/**
 * What Kysely takes for a pool; no transaction begins there. An error of one change, or a row of it that another
 * transaction holds, undoes all that were sent together, and each is sent by itself.
 */
export function shareCommits(
  source: ConnectionPool,
  { longestMs, clock = () => performance.now() }: SharingOptions,
): PostgresPool {
  const turns = takeTurns({ slowAfterMs, longestMs })
  /** The statements that were slow when they were sent together last. */
  const slow = new Map<string, Rest>()

  const loader = new DataLoader<Change, Ending>(
    async (changes) => {
      const { limit, end } = turns.begin()
      try {
        return await withTimeLimit(limit, () => commit(changes))
      } finally {
        end()
      }
    },
    { cache: false, maxBatchSize: mostChanges, batchScheduleFn: turns.ask },
  )

  /** In the order of the changes. */
  async function commit(changes: readonly Change[]): Promise<Ending[]> {
    const [only, ...others] = changes
    if (only && others.length === 0) return [await endingAlone(only)]
    const due = changes.filter(({ limit }) => !limit?.isOver)
    const outcomes = due.length > 1 ? await commitInTime(due) : undefined
    const committed = new Map(outcomes?.map((outcome, index) => [due[index], outcome]))
    return changes.map((change) => {
      const outcome = committed.get(change)
      return outcome ? () => outcome : change.alone
    })
  }

  async function commitInTime(changes: readonly Change[]): Promise<Outcome[] | undefined> {
    const since = clock()
    try {
      return await commitTogether(source, changes)
    } finally {
      const now = clock()
      const isSlow = now - since > Math.max(slowTogetherMs, slowEachMs * changes.length)
      for (const text of new Set(changes.map(({ text }) => text))) {
        const rest = slow.get(text)
        // What began before the rest was over says nothing new: one slow moment of the disk is one reason to rest.
        if (rest && since < rest.until) continue
        if (isSlow) slow.set(text, restAfter(rest, now))
        else slow.delete(text)
      }
    }
  }

  const isResting = (text: string) => clock() < (slow.get(text)?.until ?? 0)

  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new TypeError('cursors are not used here')
    if (values.length === 0) throw new TypeError('no transaction begins here')
    const alone = bindContext(() => runAlone(source, { text, values }))
    if (isResting(text)) return alone()
    return outcomeOf(loader.load({ text, values, limit: timeLimit(), alone }))
  }

  return {
    options: source.options,
    connect: () => Promise.resolve({ query, release() {} }),
    end: () => source.end(),
  }
}

async function runAlone(source: ConnectionPool, { text, values }: Statement): Promise<Outcome> {
  const client = await source.connect()
  try {
    return await client.query(text, values)
  } finally {
    client.release()
  }
}

function restAfter(rest: Rest | undefined, now: number): Rest {
  const restMs = rest ? Math.min(rest.restMs * 2, longestRestMs) : firstRestMs
  return { restMs, until: now + restMs }
}

/** Undefined where none was committed, as one of them cannot be, or not now. */
async function commitTogether(
  source: ConnectionPool,
  changes: readonly Change[],
): Promise<Outcome[] | undefined> {
  const use = { stop() {}, mayTakeEffect: () => true }
  for (const { limit } of changes) limit?.connections.add(use)
  try {
    const client = await source.connect()
    try {
      const outcomes = await client.commitAll?.(changes)
      return outcomes?.map((outcome, index) => lateOutcome(changes[index]) ?? outcome)
    } finally {
      client.release()
    }
  } catch (error) {
    if (isOfOneStatement(error)) return undefined
    throw error
  } finally {
    for (const { limit } of changes) limit?.connections.delete(use)
  }
}

/** Of a change whose request was answered before it was committed. */
function lateOutcome(change: Change | undefined): Error | undefined {
  const { limit } = change ?? {}
  if (!limit?.isOver) return undefined
  limit.hasTakenEffect = true
  return limit.over()
}

/** Its turn lasts until it has ended. */
async function endingAlone({ alone }: Change): Promise<Ending> {
  const outcome = alone()
  await Promise.allSettled([outcome])
  return () => outcome
}

/** Throws what the change failed with. */
async function outcomeOf(change: Promise<Ending>): Promise<Outcome> {
  const ending = await change
  const outcome = await ending()
  if (outcome instanceof Error) throw outcome
  return outcome
}
