/**
 * Statements that a connection has run before, under the same names: their values are bound and they are executed, without
 * asking Postgres to describe the rows once more, which pg does each time (PostgreSQL, Frontend/Backend Protocol,
 * Extended Query). Forty columns take longer to describe than to read.
 */
import type pg from 'pg'
import utils from 'pg/lib/utils.js'

export interface Known {
  name: string
  text: string
  /** How the columns of a row are called and read. */
  columns: { name: string; parse: (text: string) => unknown }[]
  /** A row without values, to be copied: faster than adding so many properties to an empty object. */
  emptyRow: Record<string, null>
}

/** `fields` are those that Postgres described when this connection ran the statement first. */
export function makeKnown(
  client: pg.ClientBase,
  statement: { name: string; text: string },
  fields: readonly pg.FieldDef[],
): Known {
  const columns = fields.map(({ name, dataTypeID }) => ({
    name,
    parse: client.getTypeParser(dataTypeID, 'text'),
  }))
  const emptyRow = Object.fromEntries(columns.map(({ name }) => [name, null]))
  return { ...statement, columns, emptyRow }
}

/** Part of a pipeline. */
export interface Step {
  text: string
  /** Undefined for a command, which takes no values and returns no rows. */
  known: Known | undefined
  values: (string | Buffer | null)[]
}

export const commandStep = (text: string): Step => ({ text, known: undefined, values: [] })

export const knownStep = (known: Known, values: readonly unknown[]): Step => ({
  text: known.text,
  known,
  values: values.map((value) => utils.prepareValue(value)),
})

type Row = Record<string, unknown>

export interface StatementResult {
  command: string
  rowCount: number
  rows: Row[]
}

/** What a step gave; rows that were written but cannot be read are an error. */
type StepOutcome = StatementResult | Error

/**
 * Sends the steps at once on the connection that knows them, which runs them in turn (PostgreSQL, Frontend/Backend
 * Protocol, Pipelining). Resolves to the result of the last; rejects with the error of the first that fails, after which
 * none is run.
 */
export async function runSteps(
  client: pg.ClientBase,
  steps: readonly Step[],
): Promise<StatementResult> {
  const [last] = await runPipeline(client, steps, steps.length - 1)
  if (last === undefined || last instanceof Error) throw last ?? new Error('no step was run')
  return last
}

/** The same, resolving to what each step gave. */
export function runEachStep(client: pg.ClientBase, steps: readonly Step[]): Promise<StepOutcome[]> {
  return runPipeline(client, steps, 0)
}

function runPipeline(client: pg.ClientBase, steps: readonly Step[], from: number) {
  return new Promise<StepOutcome[]>((resolve, reject) => {
    client.query(new Pipeline(steps, from, { resolve, reject }))
  })
}

interface Settle {
  resolve: (outcomes: StepOutcome[]) => void
  reject: (error: unknown) => void
}

/** pg hands each message of Postgres's answer to what is under way. */
class Pipeline implements pg.Submittable {
  readonly #steps: readonly Step[]
  /** The first step whose outcome is of interest. */
  readonly #from: number
  readonly #settle: Settle
  readonly #outcomes: StepOutcome[] = []
  /** How many steps are done. */
  #done = 0
  #rows: Row[] = []
  #unreadable: Error | undefined

  constructor(steps: readonly Step[], from: number, settle: Settle) {
    this.#steps = steps
    this.#from = from
    this.#settle = settle
  }

  /** For those who watch what goes out. */
  get texts(): string[] {
    return this.#steps.map(({ text }) => text)
  }

  submit(connection: pg.Connection): void {
    // All messages in one write.
    connection.stream.cork()
    try {
      for (const { text, known, values } of this.#steps) {
        if (known === undefined) connection.parse({ name: '', text, types: [] }, true)
        connection.bind({ statement: known?.name ?? '', values }, true)
        connection.execute(null, true)
      }
      connection.sync()
    } finally {
      connection.stream.uncork()
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    // What follows is read to its end all the same, or the next statement would be given it.
    if (this.#unreadable || this.#done < this.#from) return
    const known = this.#steps[this.#done]?.known
    if (known === undefined) return
    try {
      this.#rows.push(read(known, fields))
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
    this.#settle.reject(error)
  }

  handleReadyForQuery(): void {
    this.#settle.resolve(this.#outcomes)
  }

  #result(tag: string): StatementResult {
    const [command = '', ...counts] = tag.split(' ')
    return { command, rowCount: Number(counts.at(-1) ?? 0), rows: this.#rows }
  }
}

function read({ columns, emptyRow }: Known, fields: (string | null)[]): Row {
  const row: Row = { ...emptyRow }
  columns.forEach(({ name, parse }, index) => {
    const text = fields[index]
    if (typeof text === 'string') row[name] = parse(text)
  })
  return row
}
