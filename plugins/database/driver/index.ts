/** The Postgres driver of the server: the parts that other folders use. README.md describes the rest. */
import { type Dialect, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type pg from 'pg'

import type { Connect } from './connection.ts'
import { connectWithDeadline } from './deadline-connection.ts'
import { groupCommits } from './group-commit.ts'
import { type DriverOptions, PostgresDriver } from './kysely-driver.ts'
import { PlainConnection } from './plain-connection.ts'
import { prepareConnections } from './prepared-connection.ts'

export { maxGroupMs } from './backoff.ts'
export { batchLookup, lookupLimits } from './batched-lookup.ts'
export { NotConnected } from './deadline-connection.ts'
export { isOfOneStatement } from './error-scope.ts'
export { commitLimits } from './group-commit.ts'

interface DialectOptions {
  /** False behind a pooler that supports no prepared statements: nothing is named, pipelined or grouped. */
  preparesStatements: boolean
  /** The maximum duration of a request in milliseconds. */
  maxDurationMs: number
  /** Called after each statement with its duration. */
  onStatement?: DriverOptions['onStatement']
  /** Called with the milliseconds that a statement or transaction waited for a connection. */
  onConnectionWait?: ((durationMs: number) => void) | undefined
}

/** The dialect of Kysely for a pool of pg. */
export function createDialect(pool: pg.Pool, options: DialectOptions): Dialect {
  const { preparesStatements, maxDurationMs, onStatement, onConnectionWait } = options
  const prepare = preparesStatements
    ? prepareConnections()
    : (client: pg.PoolClient) => new PlainConnection(client)
  const connect = measureWaits(connectWithDeadline(pool, prepare), onConnectionWait)
  const runGrouped = preparesStatements ? groupCommits(connect, { maxDurationMs }) : undefined
  return {
    createDriver: () => new PostgresDriver({ connect, runGrouped, onStatement }),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
}

function measureWaits(connect: Connect, onWait: DialectOptions['onConnectionWait']): Connect {
  if (!onWait) return connect
  return async () => {
    const startedAt = performance.now()
    try {
      return await connect()
    } finally {
      onWait(performance.now() - startedAt)
    }
  }
}
