/** The rows of a file of people, one at a time, however long it is. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

import { parse } from 'csv-parse'

import { fromText } from './formulas.ts'

export type Format = 'ndjson' | 'csv'

export interface Row {
  /** From 1; of CSV, the line on which the row ends. */
  line: number
  /** Undefined when the line cannot be read. */
  value: unknown
  /** Bytes of the file read so far, ahead of the row by what is buffered. */
  bytesRead: number
}

/** By the ending of its name. Throws an Error for any other ending. */
export function formatOf(file: string): Format {
  if (/\.(ndjson|jsonl)$/i.test(file)) return 'ndjson'
  if (/\.csv$/i.test(file)) return 'csv'
  throw new Error(`${file} is of no known format: its name must end in .ndjson, .jsonl or .csv.`)
}

/** Empty lines are no rows. Throws an Error where CSV is broken, since nobody knows where the next row begins. */
export async function* readRows(file: string): AsyncGenerator<Row> {
  const input = createReadStream(file)
  yield* formatOf(file) === 'csv' ? readCsv(input) : readNdjson(input)
}

type Input = ReturnType<typeof createReadStream>

async function* readNdjson(input: Input): AsyncGenerator<Row> {
  let line = 0
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1
    const json = line === 1 ? text.replace(/^\uFEFF/, '') : text
    if (json.trim() === '') continue
    yield { line, value: parseJson(json), bytesRead: input.bytesRead }
  }
}

async function* readCsv(input: Input): AsyncGenerator<Row> {
  const parser = input.pipe(
    parse({ columns: true, bom: true, info: true, skip_empty_lines: true, trim: false }),
  )
  input.on('error', (error) => parser.destroy(error))
  for await (const { record, info } of parser) {
    yield { line: info.lines, value: fromCsv(record), bytesRead: input.bytesRead }
  }
}

/** Columns that hold JSON or a boolean. */
const jsonColumns = [
  'app_metadata',
  'user_metadata',
  'raw_app_meta_data',
  'raw_user_meta_data',
  'identities',
]
const booleanColumns = ['email_confirm', 'phone_confirm', 'is_anonymous', 'is_sso_user']

/** Empty fields are absent; undefined when a field that holds JSON does not. */
function fromCsv(record: Record<string, string>): unknown {
  const entries = Object.entries(record).filter(([, text]) => text !== '')
  const row: Record<string, unknown> = Object.fromEntries(
    entries.map(([name, text]) => [name, fromText(text)]),
  )
  for (const name of jsonColumns) {
    const text = record[name]
    if (!text) continue
    row[name] = parseJson(text)
    if (row[name] === undefined) return undefined
  }
  for (const name of booleanColumns) {
    if (record[name]) row[name] = /^(true|t|1|yes)$/i.test(record[name])
  }
  return row
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
