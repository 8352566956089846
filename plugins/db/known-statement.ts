/**
 * A statement that a connection has run before, under the same name: its values are bound and it is executed, without
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

type Row = Record<string, unknown>

export interface StatementResult {
  command: string
  rowCount: number
  rows: Row[]
}

/** Runs it on the connection that prepared it; rejects with Postgres's error. */
export function runKnown(
  client: pg.ClientBase,
  known: Known,
  values: readonly unknown[],
): Promise<StatementResult> {
  const bound = values.map((value) => utils.prepareValue(value))
  return new Promise((resolve, reject) => {
    client.query(new KnownStatement(known, bound, { resolve, reject }))
  })
}

interface Settle {
  resolve: (result: StatementResult) => void
  reject: (error: unknown) => void
}

/** pg hands each message of Postgres's answer to the statement under way. */
class KnownStatement implements pg.Submittable {
  readonly name: string
  readonly text: string
  readonly #known: Known
  readonly #values: (string | Buffer | null)[]
  readonly #settle: Settle
  readonly #rows: Row[] = []
  #tag = ''
  #unreadable: { error: unknown } | undefined

  constructor(known: Known, values: (string | Buffer | null)[], settle: Settle) {
    this.name = known.name
    this.text = known.text
    this.#known = known
    this.#values = values
    this.#settle = settle
  }

  submit(connection: pg.Connection): void {
    // All messages in one write.
    connection.stream.cork()
    try {
      connection.bind({ statement: this.name, values: this.#values }, true)
      connection.execute(null, true)
      connection.sync()
    } finally {
      connection.stream.uncork()
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    // What follows is read to its end all the same, or the next statement would be given it.
    if (this.#unreadable) return
    try {
      this.#rows.push(read(this.#known, fields))
    } catch (error) {
      this.#unreadable = { error }
    }
  }

  /** The tag is like `UPDATE 1` or `INSERT 0 1`. */
  handleCommandComplete({ text }: { text: string }): void {
    this.#tag = text
  }

  handleError(error: unknown): void {
    this.#settle.reject(error)
  }

  handleReadyForQuery(): void {
    if (this.#unreadable) {
      this.#settle.reject(this.#unreadable.error)
      return
    }
    const [command = '', ...counts] = this.#tag.split(' ')
    this.#settle.resolve({ command, rowCount: Number(counts.at(-1) ?? 0), rows: this.#rows })
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
