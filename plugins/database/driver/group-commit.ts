/**
 * Group commit: independent statements of concurrent requests in one transaction and one message, with one wait for the
 * disk. A statement that comes alone is sent immediately and alone.
 */
import type { RequestDeadline } from '../../observability/request-context/deadline.ts'
import { bindContext, requestDeadline } from '../../observability/request-context/index.ts'
import { createBatchLoader } from './batch-loader.ts'
import type { Connect, Result, Statement, StatementOutcome } from './connection.ts'
import { isOfOneStatement } from './error-scope.ts'

/** Most disks commit within `slowAfterMs`. */
const commitLimits = { maxBatchSize: 16, slowAfterMs: 5 }

interface GroupCommitOptions {
  /** The maximum duration of a request in milliseconds. */
  maxDurationMs: number
  /** Returns milliseconds since any fixed time. */
  clock?: () => number
}

interface Change extends Statement {
  /** The deadline of its request. */
  deadline: RequestDeadline | undefined
  /** Runs the statement alone, in the context of its request. */
  runAlone: () => Promise<Result>
}

/** Returns the result of a change, or runs it alone. The other requests of its group do not wait for that. */
type Finish = () => Promise<Result>

/**
 * A function that runs a statement in a group. When one statement fails, or waits for a row that another transaction has
 * locked, the group is rolled back and each statement is run alone.
 */
export function groupCommits(
  connect: Connect,
  { maxDurationMs, clock = () => performance.now() }: GroupCommitOptions,
): (statement: Statement) => Promise<Result> {
  const backoff = createBackoff(clock)

  async function finishAll(changes: readonly Change[]): Promise<(Finish | Error)[]> {
    const [only, ...others] = changes
    if (only && others.length === 0) return [await finishAlone(only)]
    const due = changes.filter(({ deadline }) => !deadline?.isOver)
    const texts = due.map(({ text }) => text)
    const outcomes =
      due.length > 1 ? await backoff.measure(texts, () => commitGroup(connect, due)) : undefined
    const committed = new Map(outcomes?.map((outcome, index) => [due[index], outcome]))
    return changes.map((change) => toFinish(change, committed.get(change)))
  }

  const load = createBatchLoader({ ...commitLimits, maxDurationMs }, finishAll)

  return async (statement) => {
    const runAlone = bindContext(() => runOnce(connect, statement))
    if (backoff.applies(statement.text)) return runAlone()
    const finish = await load({ ...statement, deadline: requestDeadline(), runAlone })
    return finish()
  }
}

async function runOnce(connect: Connect, statement: Statement): Promise<Result> {
  const connection = await connect()
  try {
    return await connection.run(statement)
  } finally {
    connection.release()
  }
}

/** The batch lasts until the statement has ended. */
async function finishAlone({ runAlone }: Change): Promise<Finish> {
  const result = runAlone()
  await Promise.allSettled([result])
  return () => result
}

function toFinish(change: Change, outcome: StatementOutcome | undefined): Finish | Error {
  if (outcome === undefined) return change.runAlone
  return outcome instanceof Error ? outcome : () => Promise.resolve(outcome)
}

/** Undefined when none was committed because one of the statements failed. */
async function commitGroup(
  connect: Connect,
  changes: readonly Change[],
): Promise<StatementOutcome[] | undefined> {
  const use = { stop() {}, mayTakeEffect: () => true }
  for (const { deadline } of changes) deadline?.connections.add(use)
  try {
    const outcomes = await commitOnce(connect, changes)
    return outcomes.map((outcome, index) => lateOutcome(changes[index]) ?? outcome)
  } catch (error) {
    if (isOfOneStatement(error)) return undefined
    throw error
  } finally {
    for (const { deadline } of changes) deadline?.connections.delete(use)
  }
}

async function commitOnce(
  connect: Connect,
  changes: readonly Change[],
): Promise<StatementOutcome[]> {
  const connection = await connect()
  try {
    return await connection.commitAll(changes)
  } finally {
    connection.release()
  }
}

/** The outcome of a change that was committed after the deadline of its request. */
function lateOutcome(change: Change | undefined): Error | undefined {
  const { deadline } = change ?? {}
  if (!deadline?.isOver) return undefined
  deadline.hasTakenEffect = true
  return deadline.over()
}

/** The maximum duration of a group in milliseconds. A trigger of the operator may take longer. */
const maxGroupMs = 50
/** The maximum duration of each statement of a group. */
const maxStatementMs = 5

const [initialBackoffMs, maxBackoffMs] = [250, 60_000]

interface Backoff {
  durationMs: number
  until: number
}

/**
 * Statements that were slow in a group are sent alone for some time, which doubles each time that they are slow again.
 * `clock` returns milliseconds since any fixed time.
 */
function createBackoff(clock: () => number) {
  const backoffs = new Map<string, Backoff>()

  function record(text: string, startedAt: number, isSlow: boolean): void {
    const backoff = backoffs.get(text)
    // A group sent before the backoff ended does not extend it: a slow moment of the disk counts once.
    if (backoff && startedAt < backoff.until) return
    if (!isSlow) {
      backoffs.delete(text)
      return
    }
    const durationMs = backoff ? Math.min(backoff.durationMs * 2, maxBackoffMs) : initialBackoffMs
    backoffs.set(text, { durationMs, until: clock() + durationMs })
  }

  return {
    /** Whether the statement is sent alone. */
    applies: (text: string): boolean => clock() < (backoffs.get(text)?.until ?? 0),

    /** Runs a group of statements and records whether it was slow. */
    async measure<T>(texts: readonly string[], work: () => Promise<T>): Promise<T> {
      const startedAt = clock()
      try {
        return await work()
      } finally {
        const limitMs = Math.max(maxGroupMs, maxStatementMs * texts.length)
        const isSlow = clock() - startedAt > limitMs
        for (const text of new Set(texts)) record(text, startedAt, isSlow)
      }
    },
  }
}
