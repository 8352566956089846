/** Statements of a request end with its time: the running one is stopped, and none is sent after it. */
import { setTimeout as pause } from 'node:timers/promises'

import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'

import { timeLimit } from '../context.ts'
import { cancelStatement } from './cancel-statement.ts'
import type { TimeLimit } from './time-limit.ts'

/** The first pause before another try: the statement may not have arrived when it was to be stopped. */
const firstPauseMs = 100
const longestPauseMs = 5_000

/** In the words of Kysely. */
export const beginsTransaction = (text: string): boolean =>
  text === 'begin' || text.startsWith('start transaction')

export interface Statement {
  text: string
  values: readonly unknown[]
}

/** What a statement gave, or why it cannot be told. */
export type Outcome = { rows: unknown[] } | Error

/** What Kysely speaks to. */
export interface Connection extends PostgresPoolClient {
  /** Ends when Postgres has done what nobody waited for. */
  flush?(): Promise<void>
  /** Runs these statements and commits them together; when one fails, none has been run. In the order of the statements. */
  commitAll?(statements: readonly Statement[]): Promise<Outcome[]>
}

export interface ConnectionPool extends PostgresPool {
  connect(): Promise<Connection>
}

/** A request has no connection to the database, for whatever reason: its address, the login, or too many of them. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super('there is no connection to the database', { cause })
    this.name = 'NotConnected'
  }
}

/** `prepare` makes what Kysely speaks to of a connection. */
export function withTimeLimits(
  pool: pg.Pool,
  prepare: (client: pg.PoolClient) => Connection,
): ConnectionPool {
  return {
    options: pool.options,
    async connect() {
      const limit = timeLimit()
      if (!limit) return prepare(await pool.connect())
      limit.check()
      const client = await pool.connect().catch((error) => {
        throw new NotConnected(error)
      })
      if (!limit.isOver) {
        return limited(prepare(client), limit, () => cancelStatement(pool.options, client))
      }
      client.release()
      throw limit.over()
    },
    end: () => pool.end(),
  }
}

function limited(client: Connection, limit: TimeLimit, cancel: () => Promise<void>): Connection {
  let running: { text: string } | undefined
  let cancelling: Promise<void> | undefined
  let isInTransaction = false

  const inUse = {
    stop() {
      // A commit that waits for a standby would have happened all the same.
      if (running && running.text !== 'commit') void stop(running)
    },
    mayTakeEffect: () => running !== undefined && isForGood(running.text),
  }
  limit.connections.add(inUse)

  async function stop(statement: object): Promise<void> {
    for (let pauseMs = firstPauseMs; running === statement; pauseMs *= 2) {
      cancelling = cancel()
      await cancelling
      await pause(Math.min(pauseMs, longestPauseMs), undefined, { ref: false })
    }
  }

  function isForGood(text: string): boolean {
    return text === 'commit' || !isInTransaction
  }

  async function run<R>(text: string, values: readonly unknown[]) {
    // What would go out with the commit can still be stopped.
    if (text === 'commit') await watched('before commit', async () => client.flush?.())
    return watched(text, () => client.query<R>(text, values))
  }

  async function watched<T>(text: string, work: () => Promise<T>): Promise<T> {
    if (limit.isOver && text !== 'rollback') throw limit.over()
    isInTransaction ||= beginsTransaction(text)
    running = { text }
    try {
      const result = await work()
      if (limit.isOver) refuse(text)
      return result
    } catch (error) {
      throw limit.isOver ? limit.over(error) : error
    } finally {
      running = undefined
      // It would stop the next statement on this connection, whoever sends that.
      if (cancelling) await cancelling
    }
  }

  /** What has succeeded too late; only a commit and a rollback count all the same. */
  function refuse(text: string): void {
    if (text === 'rollback') return
    limit.hasTakenEffect ||= isForGood(text)
    if (text !== 'commit') throw limit.over()
  }

  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new TypeError('cursors are not used here')
    return run(text, values)
  }

  const { commitAll } = client

  return {
    query,
    ...(commitAll && {
      commitAll: (statements) => watched('several changes', () => commitAll(statements)),
    }),
    release(destroy) {
      limit.connections.delete(inUse)
      client.release(destroy)
    },
  }
}
