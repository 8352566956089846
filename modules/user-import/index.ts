/** Imports users from a file: each row is validated, converted to columns, and stored in batches. */

export { type BulkRecord, type Defaults, RejectedRow, toBulkRecord } from './bulk-record.ts'
export { headerRow, renderRows } from './csv.ts'
export { escapeFormula } from './formulas.ts'
export { type ImportedText, type ImportRejection, importText, storeBatch } from './import-text.ts'
export { describeLeftOut, type LeftOut } from './left-out.ts'
export { type Format, getFileFormat, type ImportRow, readRows } from './read-rows.ts'
