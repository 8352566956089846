/** A connection whose statements end with the request that sent them. */
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import type {
  ConnectionInUse,
  RequestDeadline,
} from '../../observability/request-context/deadline.ts'
import { requestDeadline } from '../../observability/request-context/index.ts'
import { getBackendId } from '../pool/pooler.ts'
import type {
  Connect,
  DriverConnection,
  Result,
  Statement,
  StatementOutcome,
} from './connection.ts'

/** A server that takes longer does not respond, and the statement waits for more than a lock. */
const maxWaitMs = 1_000

/** The code of a CancelRequest (PostgreSQL, Frontend/Backend Protocol, Message Formats). */
const cancelRequestCode = 80_877_102

/**
 * Cancels the statement that runs on this connection with a CancelRequest, which poolers forward. pg_cancel_backend would
 * take a pooler's process id for one of Postgres. Resolves when the request was sent, or cannot be sent.
 */
async function cancelStatement(options: pg.ClientConfig, client: pg.ClientBase): Promise<void> {
  const request = cancelRequest(client)
  if (!request) return
  // New connections may lead to another server than the one that runs the statement.
  const { host, port, ssl } = client instanceof pg.Client ? client : {}
  const messenger = new pg.Client({
    ...options,
    ...(host !== undefined && { connectionString: undefined, host, port, ssl }),
    connectionTimeoutMillis: maxWaitMs,
  })
  const { connection } = messenger
  Object.assign(connection, { startup: () => connection.stream.write(request) })
  // The server closes the connection without a response, which pg reports as a failure to connect.
  await messenger.connect().catch(() => {})
}

/** Undefined for a connection that was never established. */
function cancelRequest(client: pg.ClientBase): Buffer | undefined {
  const processId = getBackendId(client)
  const secret = 'secretKey' in client ? client.secretKey : undefined
  if (processId === undefined || typeof secret !== 'number') return undefined
  const request = Buffer.alloc(16)
  const words = [request.length, cancelRequestCode, processId, secret]
  for (const [index, word] of words.entries()) request.writeInt32BE(word, index * 4)
  return request
}

/** The first pause before another cancel request: the first may have arrived before the statement. */
const initialPauseMs = 100
const maxPauseMs = 5_000

/** A request gets no connection to the database: wrong address or credentials, or too many connections. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super('there is no connection to the database', { cause })
    this.name = 'NotConnected'
  }
}

/** `prepare` makes a connection of the driver from one of the pool. */
export function connectWithDeadline(
  pool: pg.Pool,
  prepare: (client: pg.PoolClient) => DriverConnection,
): Connect {
  return async () => {
    const deadline = requestDeadline()
    if (!deadline) return prepare(await pool.connect())
    deadline.check()
    const client = await pool.connect().catch((error) => {
      throw new NotConnected(error)
    })
    if (deadline.isOver) {
      client.release()
      throw deadline.over()
    }
    const cancel = () => cancelStatement(pool.options, client)
    return new DeadlineConnection(prepare(client), deadline, cancel)
  }
}

type Operation = 'statement' | 'commit' | 'rollback'

/**
 * After the deadline the running statement is cancelled and no other is sent, except a rollback. A commit is not
 * cancelled: one that waits for a standby takes effect in any case.
 */
class DeadlineConnection implements DriverConnection, ConnectionInUse {
  readonly #connection: DriverConnection
  readonly #deadline: RequestDeadline
  readonly #cancel: () => Promise<void>
  #running: { operation: Operation } | undefined
  #cancelling: Promise<void> | undefined
  #isInTransaction = false

  constructor(
    connection: DriverConnection,
    deadline: RequestDeadline,
    cancel: () => Promise<void>,
  ) {
    this.#connection = connection
    this.#deadline = deadline
    this.#cancel = cancel
    deadline.connections.add(this)
  }

  begin(text: string): Promise<void> {
    this.#isInTransaction = true
    return this.#perform('statement', () => this.#connection.begin(text))
  }

  /** Pipelined statements are sent first, so that they can still be cancelled. */
  async commit(): Promise<string> {
    await this.flush()
    return this.#perform('commit', () => this.#connection.commit())
  }

  rollback(): Promise<void> {
    return this.#perform('rollback', () => this.#connection.rollback())
  }

  run(statement: Statement): Promise<Result> {
    return this.#perform('statement', () => this.#connection.run(statement))
  }

  runPipelined(statement: Statement): Promise<void> {
    return this.#perform('statement', () => this.#connection.runPipelined(statement))
  }

  flush(): Promise<void> {
    return this.#perform('statement', () => this.#connection.flush())
  }

  commitAll(statements: readonly Statement[]): Promise<StatementOutcome[]> {
    return this.#perform('statement', () => this.#connection.commitAll(statements))
  }

  release(destroy?: boolean): void {
    this.#deadline.connections.delete(this)
    this.#connection.release(destroy)
  }

  stop(): void {
    if (this.#running && this.#running.operation !== 'commit') void this.#stop(this.#running)
  }

  mayTakeEffect(): boolean {
    return this.#running !== undefined && this.#isPermanent(this.#running.operation)
  }

  /** Cancels until the operation has ended. */
  async #stop(running: object): Promise<void> {
    for (let pauseMs = initialPauseMs; this.#running === running; pauseMs *= 2) {
      this.#cancelling = this.#cancel()
      await this.#cancelling
      await pause(Math.min(pauseMs, maxPauseMs), undefined, { ref: false })
    }
  }

  #isPermanent(operation: Operation): boolean {
    return operation === 'commit' || !this.#isInTransaction
  }

  async #perform<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    const deadline = this.#deadline
    if (deadline.isOver && operation !== 'rollback') throw deadline.over()
    this.#running = { operation }
    try {
      const result = await work()
      if (deadline.isOver) this.#rejectLate(operation)
      return result
    } catch (error) {
      throw deadline.isOver ? deadline.over(error) : error
    } finally {
      this.#running = undefined
      // A pending cancel request would cancel the next statement of this connection, which may belong to another
      // request.
      if (this.#cancelling) await this.#cancelling
    }
  }

  /** Rejects an operation that succeeded after the deadline, except a commit and a rollback. */
  #rejectLate(operation: Operation): void {
    if (operation === 'rollback') return
    this.#deadline.hasTakenEffect ||= this.#isPermanent(operation)
    if (operation !== 'commit') throw this.#deadline.over()
  }
}
