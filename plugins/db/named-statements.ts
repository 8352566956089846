/**
 * What Kysely says to a connection: every statement under a name derived from its text, so that Postgres plans it once a
 * connection, and describes its rows once. What nobody waits for goes out with the next statement.
 */
import { createHash } from 'node:crypto'

import type { PostgresCursor, PostgresQueryResult } from 'kysely'
import type pg from 'pg'

import { isUnawaited } from '../../db/unawaited.ts'
import {
  beginsTransaction,
  type Connection,
  type Outcome,
  type Statement,
} from '../request-duration/limited-pool.ts'
import {
  commandStep,
  type Known,
  knownStep,
  makeKnown,
  runEachStep,
  runSteps,
  type StatementResult,
  type Step,
} from './known-statement.ts'

/** Statements beyond this many are sent unnamed, so that no connection collects plans without end. */
const maxNamedStatements = 500

/**
 * Shorter than Postgres waits until it looks for transactions that wait for each other: one that holds the locks of several
 * requests gives way to every other.
 */
const beginShared = ['begin', 'set local lock_timeout = 25'].map(commandStep)

/** As begin does, they return nothing, and fail only where the statement after them would fail as well. */
const concernsSavepoint = /^(?:savepoint |release savepoint |rollback to savepoint )/

type Result = StatementResult | pg.QueryResult

/** What Kysely speaks to in place of a connection, the same for as long as that is open. */
export function nameStatements(): (client: pg.PoolClient) => Connection {
  const names = new Map<string, string>()
  const connections = new WeakMap<pg.PoolClient, Connection>()

  function nameOf(text: string): string | undefined {
    const given = names.get(text)
    if (given !== undefined || names.size >= maxNamedStatements) return given
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 32)
    names.set(text, name)
    return name
  }

  return (client) => {
    const found = connections.get(client)
    if (found) return found
    const connection = namedConnection(client, nameOf)
    connections.set(client, connection)
    return connection
  }
}

function namedConnection(
  client: pg.PoolClient,
  nameOf: (text: string) => string | undefined,
): Connection {
  const knowns = new Map<string, Known>()
  /** What goes out with the next statement, in this order. */
  let waiting: Step[] = []

  function send(step: Step): Promise<StatementResult> {
    return runSteps(client, waiting.length > 0 ? [...taken(), step] : [step])
  }

  async function sendWaiting(): Promise<void> {
    if (waiting.length > 0) await runSteps(client, taken())
  }

  function taken(): Step[] {
    const steps = waiting
    waiting = []
    return steps
  }

  function later(step: Step): StatementResult {
    waiting.push(step)
    return nothing('')
  }

  function runStatement(text: string, values: readonly unknown[]): Promise<Result> | Result {
    const name = nameOf(text)
    const known = name === undefined ? undefined : knowns.get(name)
    if (!known) return runUnknown(name, text, values)
    const step = knownStep(known, values)
    return isUnawaited(values) ? later(step) : send(step)
  }

  async function runUnknown(
    name: string | undefined,
    text: string,
    given: readonly unknown[],
  ): Promise<Result> {
    await sendWaiting()
    const values = [...given]
    if (name === undefined) return client.query(text, values)
    const result = await client.query({ name, text, values })
    knowns.set(name, makeKnown(client, { name, text }, result.fields))
    return result
  }

  async function commitAll(statements: readonly Statement[]): Promise<Outcome[]> {
    try {
      const steps = knownSteps(statements)
      return await (steps ? commitSteps(steps) : commitOneByOne(statements))
    } catch (error) {
      // It fails where the connection is lost, which ends the transaction as well.
      await client.query('rollback').catch(() => {})
      throw error
    }
  }

  /** Undefined where this connection has yet to run one of them. */
  function knownSteps(statements: readonly Statement[]): Step[] | undefined {
    const steps = statements.flatMap(({ text, values }) => {
      const name = nameOf(text)
      const known = name === undefined ? undefined : knowns.get(name)
      return known ? [knownStep(known, values)] : []
    })
    return steps.length === statements.length ? steps : undefined
  }

  async function commitSteps(steps: readonly Step[]): Promise<Outcome[]> {
    const outcomes = await runEachStep(client, [...beginShared, ...steps, commandStep('commit')])
    return outcomes.slice(beginShared.length, -1)
  }

  async function commitOneByOne(statements: readonly Statement[]): Promise<Outcome[]> {
    for (const { text } of beginShared) await client.query(text)
    const results: Outcome[] = []
    for (const { text, values } of statements) results.push(await runStatement(text, values))
    await client.query('commit')
    return results
  }

  async function runCommand(command: string): Promise<Result> {
    if (beginsTransaction(command) || concernsSavepoint.test(command)) {
      return later(commandStep(command))
    }
    if (command === 'commit' || command === 'rollback') return end(command)
    await sendWaiting()
    return client.query(command)
  }

  /** A transaction that Postgres has not heard of need not be ended there. */
  function end(command: 'commit' | 'rollback'): Promise<Result> | Result {
    const steps = taken()
    const isCommit = command === 'commit'
    const isUnheardOf = steps.some(({ text }) => beginsTransaction(text))
    if (isUnheardOf && !(isCommit && steps.some(({ known }) => known))) {
      return nothing(command.toUpperCase())
    }
    return isCommit && steps.length > 0
      ? runSteps(client, [...steps, commandStep(command)])
      : client.query(command)
  }

  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new TypeError('cursors are not used here')
    return values.length > 0 ? runStatement(text, values) : runCommand(text)
  }

  return {
    query,
    commitAll,
    async flush() {
      if (waiting.some(({ known }) => known)) await sendWaiting()
    },
    release(destroy) {
      waiting = []
      client.release(destroy)
    },
  }
}

const nothing = (command: string): StatementResult => ({ command, rowCount: 0, rows: [] })
