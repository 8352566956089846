/** An import within a request, in one transaction. */
import type { Trx } from '../../db/core/database.ts'
import { type ImportRejection, storeBatch } from './batch.ts'
import { type BulkRecord, type Defaults, RejectedRow, toBulkRecord } from './bulk-record.ts'
import { type Format, parseRowsFromText } from './read-rows.ts'

interface ImportText {
  text: string
  format: Format
  defaults: Defaults
  /** Why a row with this role is rejected; undefined when it is accepted. */
  checkRole: (role: string) => string | undefined
}

export interface ImportedText {
  total: number
  accepted: number
  rejected: ImportRejection[]
}

const batchSize = 1_000

/** Throws an Error for invalid CSV. */
export async function importText(trx: Trx, input: ImportText, now: Date): Promise<ImportedText> {
  const outcome: ImportedText = { total: 0, accepted: 0, rejected: [] }
  let records: BulkRecord[] = []
  const store = async () => {
    const unstored = await storeBatch(trx, records)
    outcome.accepted += records.length - unstored.length
    outcome.rejected.push(...unstored)
    records = []
  }
  for await (const { line, value } of parseRowsFromText(input.text, input.format)) {
    outcome.total += 1
    const read = readRow(input, line, value, now)
    if ('reason' in read) outcome.rejected.push(read)
    else records.push(read)
    if (records.length === batchSize) await store()
  }
  await store()
  outcome.rejected.sort((a, b) => a.line - b.line)
  return outcome
}

function readRow(
  { defaults, checkRole }: ImportText,
  line: number,
  value: unknown,
  now: Date,
): BulkRecord | ImportRejection {
  try {
    const record = toBulkRecord(value, line, defaults, now)
    const reason = checkRole(record.user.role)
    return reason === undefined ? record : { line, reason }
  } catch (error) {
    if (!(error instanceof RejectedRow)) throw error
    return { line, reason: error.message }
  }
}
