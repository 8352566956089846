/** The Postgres driver of the server: the parts that other folders use. README.md describes the rest. */
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'

import { getDelivery } from '../../../db/core/statement.ts'
import type { ReportUnreadable } from '../../../db/core/stored-json.ts'
import type { Connect, DriverConnection, Result, Statement } from './connection.ts'
import { connectWithDeadline } from './deadline-connection.ts'
import { groupCommits } from './group-commit.ts'
import { PlainConnection } from './plain-connection.ts'
import { prepareConnections } from './prepared-connection.ts'

export { batchLookup } from './batch-loader.ts'
export { NotConnected } from './deadline-connection.ts'
export { isOfOneStatement } from './error-scope.ts'

interface DialectOptions {
  /** Called for each value of a JSON column that was left out because it is of another kind. */
  onUnreadable?: ReportUnreadable | undefined
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
  const { onUnreadable = () => {} } = options
  const prepare = preparesStatements
    ? prepareConnections(onUnreadable)
    : (client: pg.PoolClient) => new PlainConnection(client, onUnreadable)
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

// The driver of Kysely: chooses the connection that runs a statement, and how it is sent.

interface DriverOptions {
  connect: Connect
  /** Runs a statement in a group commit; absent, grouped statements are sent as any other. */
  runGrouped?: ((statement: Statement) => Promise<Result>) | undefined
  /** Called after each statement with its duration. */
  onStatement?: ((sql: string, durationMs: number) => void) | undefined
}

/** One use of the pool by Kysely. It takes a connection at the first statement that needs one. */
class LazyConnection implements DatabaseConnection {
  readonly #options: DriverOptions
  #connection: DriverConnection | undefined
  #isInTransaction = false
  #isBroken = false

  constructor(options: DriverOptions) {
    this.#options = options
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>>
  async executeQuery(query: CompiledQuery): Promise<QueryResult<unknown>> {
    const statement = { text: query.sql, values: query.parameters }
    const delivery = getDelivery(query)
    if (delivery === 'pipelined' && this.#isInTransaction) {
      const connection = await this.#connect()
      await this.#measure(statement, () => connection.runPipelined(statement))
      return { rows: [] }
    }
    return toQueryResult(await this.#run(statement, delivery === 'grouped'))
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('results are not streamed')
  }

  async begin(text: string): Promise<void> {
    const connection = await this.#connect()
    this.#isInTransaction = true
    await connection.begin(text)
  }

  async commit(): Promise<void> {
    const command = await this.#connection?.commit()
    // Postgres rolls back a transaction in which a statement has failed.
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollback(): Promise<void> {
    try {
      await this.#connection?.rollback()
    } catch (error) {
      this.#isBroken = true
      throw error
    }
  }

  release(): void {
    this.#connection?.release(this.#isBroken)
  }

  async #connect(): Promise<DriverConnection> {
    this.#connection ??= await this.#options.connect()
    return this.#connection
  }

  async #run(statement: Statement, isGrouped: boolean): Promise<Result> {
    const { runGrouped } = this.#options
    if (isGrouped && runGrouped && !this.#connection) {
      return this.#measure(statement, () => runGrouped(statement))
    }
    const connection = await this.#connect()
    return this.#measure(statement, () => connection.run(statement))
  }

  async #measure<T>({ text }: Statement, work: () => Promise<T>): Promise<T> {
    const { onStatement } = this.#options
    const startedAt = onStatement && performance.now()
    try {
      return await work()
    } catch (error) {
      throw withCallerStack(error)
    } finally {
      if (startedAt !== undefined) onStatement?.(text, performance.now() - startedAt)
    }
  }
}

class PostgresDriver implements Driver {
  readonly #options: DriverOptions

  constructor(options: DriverOptions) {
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<LazyConnection> {
    return new LazyConnection(this.#options)
  }

  beginTransaction(connection: LazyConnection, settings: TransactionSettings): Promise<void> {
    return connection.begin(beginStatement(settings))
  }

  commitTransaction(connection: LazyConnection): Promise<void> {
    return connection.commit()
  }

  rollbackTransaction(connection: LazyConnection): Promise<void> {
    return connection.rollback()
  }

  async releaseConnection(connection: LazyConnection): Promise<void> {
    connection.release()
  }

  /** The plugin closes the pool. */
  async destroy(): Promise<void> {}
}

function beginStatement({ isolationLevel, accessMode }: TransactionSettings): string {
  const level = isolationLevel && `isolation level ${isolationLevel}`
  return ['begin', level, accessMode].filter(Boolean).join(' ')
}

const commandsThatWrite = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

function toQueryResult({ command, rowCount, rows }: Result): QueryResult<unknown> {
  return commandsThatWrite.has(command)
    ? { numAffectedRows: BigInt(rowCount ?? 0), rows }
    : { rows }
}

/** The stack of an error of Postgres ends at the socket that received it. */
function withCallerStack(error: unknown): unknown {
  if (error instanceof Error) {
    const { stack = '' } = new Error()
    error.stack += stack.slice(stack.indexOf('\n'))
  }
  return error
}
