/** Reads the rows of a user file as a stream, and writes them. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'

import { parse } from 'csv-parse'
import { stringify } from 'csv-stringify/sync'

export type Format = 'ndjson' | 'csv'

export interface ImportRow {
  /** 1-based; for CSV the line on which the row ends. */
  line: number
  /** Undefined when the row cannot be parsed. */
  value: unknown
  /** Bytes read so far, including buffered ones after the row. */
  bytesRead: number
}

/** By the file extension. Throws an Error for an unknown one. */
export function getFileFormat(file: string): Format {
  if (/\.(ndjson|jsonl)$/i.test(file)) return 'ndjson'
  if (/\.csv$/i.test(file)) return 'csv'
  throw new Error(`${file} has an unknown format: its name must end in .ndjson, .jsonl or .csv.`)
}

/** Skips empty lines. Throws an Error for invalid CSV, since the start of the next row is unknown. */
export async function* readRows(file: string): AsyncGenerator<ImportRow> {
  const input = createReadStream(file)
  yield* readFormat(input, getFileFormat(file), () => input.bytesRead)
}

/** The same for a text. */
export async function* parseRowsFromText(text: string, format: Format): AsyncGenerator<ImportRow> {
  yield* readFormat(Readable.from([text], { objectMode: false }), format, () => 0)
}

type BytesRead = () => number

const readFormat = (input: Readable, format: Format, bytesRead: BytesRead) =>
  format === 'csv' ? readCsv(input, bytesRead) : readNdjson(input, bytesRead)

async function* readNdjson(input: Readable, bytesRead: BytesRead): AsyncGenerator<ImportRow> {
  let line = 0
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1
    const json = line === 1 ? text.replace(/^\uFEFF/, '') : text
    if (json.trim() === '') continue
    yield { line, value: parseJson(json), bytesRead: bytesRead() }
  }
}

async function* readCsv(input: Readable, bytesRead: BytesRead): AsyncGenerator<ImportRow> {
  const parser = input.pipe(
    parse({ columns: true, bom: true, info: true, skip_empty_lines: true, trim: false }),
  )
  input.on('error', (error) => parser.destroy(error))
  for await (const { record, info } of parser) {
    yield { line: info.lines, value: fromCsv(record), bytesRead: bytesRead() }
  }
}

/** Columns with JSON or a boolean. */
const jsonColumns = [
  'app_metadata',
  'user_metadata',
  'raw_app_meta_data',
  'raw_user_meta_data',
  'identities',
]
const booleanColumns = ['email_confirm', 'phone_confirm', 'is_anonymous', 'is_sso_user']

/** Empty fields are absent; undefined when a JSON field is invalid. */
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

type Cell = string | boolean | null | undefined
type ExportedRow = Record<string, Cell | object>

/** Escapes cells that a spreadsheet would run as formulas. */
export function renderRows(
  rows: readonly ExportedRow[],
  columns: readonly string[],
  format: Format,
): string {
  if (format === 'ndjson') return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const cast = {
    string: escapeFormula,
    boolean: String,
    object: (value: object) => escapeFormula(JSON.stringify(value)),
  }
  return stringify([...rows], { columns: [...columns], cast })
}

/** The first line of a file. */
export const headerRow = (columns: readonly string[], format: Format): string =>
  format === 'csv' ? stringify([[...columns]]) : ''

/**
 * A cell that a spreadsheet would execute as a formula, as users choose their addresses and metadata, gets a leading
 * apostrophe, which marks it as text; the import removes it.
 */
export function escapeFormula(cell: string): string {
  return /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
}

function fromText(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell
}
