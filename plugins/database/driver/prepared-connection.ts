/**
 * A connection with named statements, which Postgres plans and describes once, and with pipelining: a statement whose
 * response is not needed is sent together with the next one.
 */
import { createHash } from 'node:crypto'

import type pg from 'pg'

import type { ReportUnreadable } from '../../../db/core/stored-json.ts'
import {
  groupLockTimeout,
  type Result,
  type Statement,
  type StatementOutcome,
} from './connection.ts'
import {
  boundStep,
  commandStep,
  type DescribedStatement,
  describeStatement,
  type PipelineStep,
  runEachStep,
  runSteps,
} from './pipeline.ts'
import { PlainConnection } from './plain-connection.ts'

/** Statements beyond this number are sent unnamed, to limit the plans of a connection. */
const maxNamedStatements = 500

const beginGroup = ['begin', groupLockTimeout].map(commandStep)

/** Makes the prepared connection of each connection of a pool, once. */
export function prepareConnections(
  report: ReportUnreadable = () => {},
): (client: pg.PoolClient) => PreparedConnection {
  const getStatementName = createStatementNames()
  const prepared = new WeakMap<pg.PoolClient, PreparedConnection>()
  return (client) => {
    const connection =
      prepared.get(client) ?? new PreparedConnection(client, report, getStatementName)
    prepared.set(client, connection)
    return connection
  }
}

/** Assigns each text a name, the same on every connection. */
function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= maxNamedStatements) return known
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 32)
    names.set(text, name)
    return name
  }
}

class PreparedConnection extends PlainConnection {
  readonly #getStatementName: (text: string) => string | undefined
  /** By name. */
  readonly #described = new Map<string, DescribedStatement>()
  /** Sent with the next statement, in this order. */
  #waiting: PipelineStep[] = []
  #isBeginWaiting = false

  constructor(
    client: pg.PoolClient,
    report: ReportUnreadable,
    getStatementName: (text: string) => string | undefined,
  ) {
    super(client, report)
    this.#getStatementName = getStatementName
  }

  override async begin(text: string): Promise<void> {
    this.#waiting.push(commandStep(text))
    this.#isBeginWaiting = true
  }

  /** A transaction without statements never reaches Postgres. */
  override async commit(): Promise<string> {
    const isBegun = !this.#isBeginWaiting
    const steps = this.#takeWaiting()
    if (!isBegun && !steps.some(isStatement)) return 'COMMIT'
    if (steps.length === 0) return super.commit()
    return (await runSteps(this.client, [...steps, commandStep('commit')])).command
  }

  override async rollback(): Promise<void> {
    const isBegun = !this.#isBeginWaiting
    this.#takeWaiting()
    if (isBegun) await super.rollback()
  }

  /** A statement without values is a command, and is not named. */
  override run(statement: Statement): Promise<Result> {
    const step = this.#describedStep(statement)
    return step
      ? runSteps(this.client, [...this.#takeWaiting(), step])
      : this.#runUndescribed(statement)
  }

  override async runPipelined(statement: Statement): Promise<void> {
    const { text, values } = statement
    const step = values.length === 0 ? commandStep(text) : this.#describedStep(statement)
    if (step) this.#waiting.push(step)
    else await this.run(statement)
  }

  override async flush(): Promise<void> {
    if (this.#waiting.some(isStatement)) await this.#sendWaiting()
  }

  /** In one message once this connection has described all of the statements. */
  override async commitAll(statements: readonly Statement[]): Promise<StatementOutcome[]> {
    const steps = statements.flatMap((statement) => this.#describedStep(statement) ?? [])
    if (steps.length < statements.length) return super.commitAll(statements)
    try {
      const outcomes = await runEachStep(this.client, [
        ...beginGroup,
        ...steps,
        commandStep('commit'),
      ])
      return outcomes.slice(beginGroup.length, -1)
    } catch (error) {
      // Fails when the connection is lost, which ends the transaction as well.
      await super.rollback().catch(() => {})
      throw error
    }
  }

  override release(destroy = false): void {
    this.#takeWaiting()
    super.release(destroy)
  }

  /** Undefined for a statement that this connection has not described. */
  #describedStep({ text, values }: Statement): PipelineStep | undefined {
    if (values.length === 0) return undefined
    const described = this.#described.get(this.#getStatementName(text) ?? '')
    return described && boundStep(described, values)
  }

  /** Runs a command, or a statement for the first time on this connection. */
  async #runUndescribed({ text, values }: Statement): Promise<Result> {
    await this.#sendWaiting()
    if (values.length === 0) return this.client.query(text)
    const name = this.#getStatementName(text)
    if (name === undefined) return this.query({ text, values: [...values] })
    const result = await this.query({ name, text, values: [...values] })
    const statement = { name, text }
    this.#described.set(name, describeStatement(this.client, statement, result.fields, this.report))
    return result
  }

  async #sendWaiting(): Promise<void> {
    const steps = this.#takeWaiting()
    if (steps.length > 0) await runSteps(this.client, steps)
  }

  #takeWaiting(): PipelineStep[] {
    const steps = this.#waiting
    this.#waiting = []
    this.#isBeginWaiting = false
    return steps
  }
}

/** Commands that begin a transaction or a savepoint have no effect without a statement. */
const isStatement = ({ described }: PipelineStep): boolean => described !== undefined
