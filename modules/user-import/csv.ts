/** Rows of a list as CSV or NDJSON. */
import { stringify } from 'csv-stringify/sync'

import { escapeFormula } from './formulas.ts'
import type { Format } from './read-rows.ts'

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
