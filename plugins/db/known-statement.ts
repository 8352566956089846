/**
 * A statement that a connection has run before, under the same name: its values are bound and it is executed, without
 * asking Postgres to describe the rows once more, which pg does each time (PostgreSQL, Frontend/Backend Protocol,
 * Extended Query). Forty columns take longer to describe than to read.
 */
import type pg from 'pg'
import utils from 'pg/lib/utils.js'

/** How the columns of a row are called and read. */
export interface RowShape {
  columns: { name: string; parse: (text: string) => unknown }[]
  /** A row without values, to be copied: faster than adding so many properties to an empty object. */
  empty: Record<string, null>
}

/** `fields` are those that Postgres described when the statement ran first. */
export function rowShape(client: pg.ClientBase, fields: readonly pg.FieldDef[]): RowShape {
  const columns = fields.map(({ name, dataTypeID }) => ({
    name,
    parse: client.getTypeParser(dataTypeID, 'text'),
  }))
  return { columns, empty: Object.fromEntries(columns.map(({ name }) => [name, null])) }
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
  name: string,
  shape: RowShape,
  values: readonly unknown[],
): Promise<StatementResult> {
  const bound = values.map((value) => utils.prepareValue(value))
  return new Promise((resolve, reject) => {
    client.query(new KnownStatement(name, shape, bound, { resolve, reject }))
  })
}

interface Settle {
  resolve: (result: StatementResult) => void
  reject: (error: unknown) => void
}

/** pg hands each message of Postgres's answer to the statement under way. */
class KnownStatement implements pg.Submittable {
  readonly name: string
  readonly #shape: RowShape
  readonly #values: (string | Buffer | null)[]
  readonly #settle: Settle
  readonly #rows: Row[] = []
  #tag = ''
  #unreadable: { error: unknown } | undefined

  constructor(name: string, shape: RowShape, values: (string | Buffer | null)[], settle: Settle) {
    this.name = name
    this.#shape = shape
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
      this.#rows.push(read(this.#shape, fields))
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

function read({ columns, empty }: RowShape, fields: (string | null)[]): Row {
  const row: Row = { ...empty }
  columns.forEach(({ name, parse }, index) => {
    const text = fields[index]
    if (typeof text === 'string') row[name] = parse(text)
  })
  return row
}
