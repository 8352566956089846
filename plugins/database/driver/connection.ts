/** The interface between the parts of the driver: what a connection does with statements and transactions. */

export interface Statement {
  text: string
  values: readonly unknown[]
}

export interface Result {
  command: string
  rowCount: number | null
  rows: unknown[]
}

/** The result of a statement, or the error of reading its rows. */
export type StatementOutcome = Result | Error

export interface DriverConnection {
  /** `text` is a form of BEGIN. It may reach Postgres with the first statement of the transaction. */
  begin(text: string): Promise<void>
  /** Resolves to the command that Postgres completed: ROLLBACK when an earlier statement had failed. */
  commit(): Promise<string>
  rollback(): Promise<void>
  run(statement: Statement): Promise<Result>
  /** Inside a transaction only. The statement may be sent with the next one, which then fails with it. */
  runPipelined(statement: Statement): Promise<void>
  /** Sends the pipelined statements that have not been sent. */
  flush(): Promise<void>
  /** Runs the statements in one transaction. It rejects, and has run none, when one of them fails. */
  commitAll(statements: readonly Statement[]): Promise<StatementOutcome[]>
  /** Returns the connection to the pool, or closes it. */
  release(destroy?: boolean): void
}

/** Takes a connection from the pool. */
export type Connect = () => Promise<DriverConnection>

/**
 * Sets the lock timeout of a transaction that holds the locks of several requests. It is shorter than Postgres's
 * deadlock timeout, so that in a deadlock this transaction fails, not another.
 */
export const groupLockTimeout = 'set local lock_timeout = 25'
