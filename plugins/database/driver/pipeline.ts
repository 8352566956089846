/**
 * Sends several statements in one message (PostgreSQL, Frontend/Backend Protocol, Pipelining). A statement that the
 * connection has described before is bound and executed without another Describe, which pg sends each time: forty columns
 * take longer to describe than to read.
 */
import type pg from 'pg'
import utils from 'pg/lib/utils.js'

import type { ReportUnreadable } from '../../../db/core/stored-json.ts'
import type { Result, StatementOutcome } from './connection.ts'
import { getFieldParser } from './json-fields.ts'

export interface DescribedStatement {
  name: string
  text: string
  /** The name of each column and how its text is read. */
  columns: { name: string; parse: (text: string) => unknown }[]
  /** A row without values. Copying it is faster than adding its properties to an empty object. */
  emptyRow: Record<string, null>
}

/** `fields` is Postgres's description of the rows from the first run of the statement on this connection. */
export function describeStatement(
  client: pg.ClientBase,
  statement: { name: string; text: string },
  fields: readonly pg.FieldDef[],
  report: ReportUnreadable,
): DescribedStatement {
  const columns = fields.map((field) => ({
    name: field.name,
    parse: getFieldParser(client, field, report),
  }))
  const emptyRow = Object.fromEntries(columns.map(({ name }) => [name, null]))
  return { ...statement, columns, emptyRow }
}

/** One statement of a pipeline. */
export interface PipelineStep {
  text: string
  /** Undefined for a command, which takes no values and returns no rows. */
  described: DescribedStatement | undefined
  values: (string | Buffer | null)[]
}

export const commandStep = (text: string): PipelineStep => ({
  text,
  described: undefined,
  values: [],
})

/** Throws for a value that cannot be written as text, such as an object that contains itself. */
export const boundStep = (
  described: DescribedStatement,
  values: readonly unknown[],
): PipelineStep => ({
  text: described.text,
  described,
  values: values.map((value) => utils.prepareValue(value)),
})

type Row = Record<string, unknown>

/**
 * Sends the steps in one message. Resolves to the result of the last step; rejects with the error of the first that
 * fails, after which Postgres runs no further step.
 */
export async function runSteps(
  client: pg.ClientBase,
  steps: readonly PipelineStep[],
): Promise<Result> {
  const [last] = await runPipeline(client, steps, steps.length - 1)
  if (last === undefined || last instanceof Error) throw last ?? new Error('no step was run')
  return last
}

/** The same, but resolves to the outcome of each step. */
export function runEachStep(
  client: pg.ClientBase,
  steps: readonly PipelineStep[],
): Promise<StatementOutcome[]> {
  return runPipeline(client, steps, 0)
}

function runPipeline(client: pg.ClientBase, steps: readonly PipelineStep[], from: number) {
  return new Promise<StatementOutcome[]>((resolve, reject) => {
    client.query(
      new Pipeline(steps, from, (error, outcomes = []) => {
        if (error === undefined) resolve(outcomes)
        else reject(error)
      }),
    )
  })
}

type Callback = (error: unknown, outcomes?: StatementOutcome[]) => void

/** pg passes each received message to the current query. */
class Pipeline implements pg.Submittable {
  readonly #steps: readonly PipelineStep[]
  /** The index of the first step whose outcome is returned. */
  readonly #from: number
  /** Named as in pg's own queries: instrumentation wraps it to observe the end. */
  callback: Callback
  readonly #outcomes: StatementOutcome[] = []
  /** The number of completed steps. */
  #done = 0
  #rows: Row[] = []
  #unreadable: Error | undefined

  constructor(steps: readonly PipelineStep[], from: number, callback: Callback) {
    this.#steps = steps
    this.#from = from
    this.callback = callback
  }

  get texts(): string[] {
    return this.#steps.map(({ text }) => text)
  }

  /** Named as in pg's own queries, for instrumentation. */
  get text(): string {
    return this.texts.join('; ')
  }

  submit(connection: pg.Connection): void {
    // One write for all messages.
    connection.stream.cork()
    try {
      for (const { text, described, values } of this.#steps) {
        if (described === undefined) connection.parse({ name: '', text, types: [] }, true)
        connection.bind({ statement: described?.name ?? '', values }, true)
        connection.execute(null, true)
      }
      connection.sync()
    } finally {
      connection.stream.uncork()
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    // The remaining rows are received and ignored; the next statement would receive them otherwise.
    if (this.#unreadable || this.#done < this.#from) return
    const described = this.#steps[this.#done]?.described
    if (described === undefined) return
    try {
      this.#rows.push(readRow(described, fields))
    } catch (error) {
      this.#unreadable = error instanceof Error ? error : new Error(String(error))
    }
  }

  /** The tag is like `UPDATE 1` or `INSERT 0 1`. */
  handleCommandComplete({ text }: { text: string }): void {
    if (this.#done >= this.#from) this.#outcomes.push(this.#unreadable ?? this.#result(text))
    this.#done += 1
    this.#rows = []
    this.#unreadable = undefined
  }

  handleError(error: unknown): void {
    this.callback(error)
  }

  handleReadyForQuery(): void {
    this.callback(undefined, this.#outcomes)
  }

  #result(tag: string): Result {
    const [command = '', ...counts] = tag.split(' ')
    return { command, rowCount: Number(counts.at(-1) ?? 0), rows: this.#rows }
  }
}

function readRow({ columns, emptyRow }: DescribedStatement, fields: (string | null)[]): Row {
  const row: Row = { ...emptyRow }
  columns.forEach(({ name, parse }, index) => {
    const text = fields[index]
    if (typeof text === 'string') row[name] = parse(text)
  })
  return row
}
