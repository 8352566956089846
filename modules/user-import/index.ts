/** Imports users from a file: each row is validated, converted to columns, and stored in batches. */
import type { Trx } from '../../db/core/database.ts'
import { createSavepoint, rollbackToSavepoint } from '../../db/core/savepoint.ts'
import {
  type BulkUser,
  findTakenInBulk,
  insertBulkIdentities,
  insertBulkUsers,
} from '../../db/users/bulk.ts'
import { type BulkRecord, type Defaults, RejectedRow, toBulkRecord } from './bulk-record.ts'
import type { LeftOut } from './left-out.ts'
import { type Format, parseRowsFromText } from './rows.ts'

export { type BulkRecord, type Defaults, RejectedRow, toBulkRecord } from './bulk-record.ts'
export { describeLeftOut, type LeftOut } from './left-out.ts'
export {
  escapeFormula,
  type Format,
  getFileFormat,
  headerRow,
  type ImportRow,
  readRows,
  renderRows,
} from './rows.ts'

interface ImportText {
  text: string
  format: Format
  defaults: Defaults
  /** Why the row is rejected; undefined when it is accepted. */
  checkUser: (user: BulkRecord['user']) => string | undefined
}

export interface ImportedText {
  total: number
  /** The ids of the stored users. */
  accepted: string[]
  rejected: ImportRejection[]
  leftOut: LeftOut
}

const batchSize = 1_000

/** An import within a request, in one transaction. Throws an Error for invalid CSV. */
export async function importText(trx: Trx, input: ImportText, now: Date): Promise<ImportedText> {
  const outcome: ImportedText = { total: 0, accepted: [], rejected: [], leftOut: new Map() }
  let records: BulkRecord[] = []
  const store = async () => {
    const unstored = await storeBatch(trx, records)
    const refused = new Set(unstored.map(({ line }) => line))
    const stored = records.filter(({ line }) => !refused.has(line))
    outcome.accepted.push(...stored.map(({ user }) => user.id))
    outcome.rejected.push(...unstored)
    records = []
  }
  for await (const { line, value } of parseRowsFromText(input.text, input.format)) {
    outcome.total += 1
    const read = readRow({ ...input, leftOut: outcome.leftOut }, line, value, now)
    if ('reason' in read) outcome.rejected.push(read)
    else records.push(read)
    if (records.length === batchSize) await store()
  }
  await store()
  outcome.rejected.sort((a, b) => a.line - b.line)
  return outcome
}

function readRow(
  { defaults, checkUser, leftOut }: ImportText & { leftOut: LeftOut },
  line: number,
  value: unknown,
  now: Date,
): BulkRecord | ImportRejection {
  try {
    const record = toBulkRecord(value, line, { defaults, leftOut }, now)
    const reason = checkUser(record.user)
    return reason === undefined ? record : { line, reason }
  } catch (error) {
    if (!(error instanceof RejectedRow)) throw error
    return { line, reason: error.message }
  }
}

// Stores a batch of users; a failing batch is halved until the failing rows are found.

/** A rejected row, by its line in the file. */
export interface ImportRejection {
  line: number
  reason: string
}

/** Stores the valid rows and returns the others with reasons. */
export async function storeBatch(trx: Trx, records: BulkRecord[]): Promise<ImportRejection[]> {
  const [first] = records
  if (!first) return []
  await createSavepoint(trx, 'batch')
  try {
    return await insert(trx, records)
  } catch (error) {
    const reason = findRejectionReason(error)
    if (!reason) throw error
    await rollbackToSavepoint(trx, 'batch')
    if (records.length === 1) return [{ line: first.line, reason }]
    const middle = Math.ceil(records.length / 2)
    const rejected = await storeBatch(trx, records.slice(0, middle))
    return [...rejected, ...(await storeBatch(trx, records.slice(middle)))]
  }
}

async function insert(trx: Trx, records: BulkRecord[]): Promise<ImportRejection[]> {
  const inserted = await insertBulkUsers(
    trx,
    records.map(({ user }) => user),
  )
  const isNew = ({ user }: BulkRecord) => inserted.delete(user.id)
  const [stored, left]: [BulkRecord[], BulkRecord[]] = [[], []]
  for (const record of records) (isNew(record) ? stored : left).push(record)
  const identities = stored.flatMap((record) => record.identities)
  if (identities.length > 0) await insertBulkIdentities(trx, identities)
  return left.length > 0 ? explain(trx, left) : []
}

async function explain(trx: Trx, records: BulkRecord[]): Promise<ImportRejection[]> {
  const taken = await findTakenInBulk(
    trx,
    records.map(({ user }) => user),
  )
  const values = (key: 'id' | 'email' | 'phone') => new Set(taken.map((row) => row[key]))
  const known = { id: values('id'), email: values('email'), phone: values('phone') }
  const keys = ['id', 'email', 'phone'] as const
  const isTaken = (user: BulkUser) => keys.filter((key) => user[key] && known[key].has(user[key]))
  return records.map(({ line, user }) => {
    return { line, reason: `a user already has this ${isTaken(user).join(' and ')}` }
  })
}

/**
 * Errors caused by the row: invalid data (SQLSTATE class 22), violated constraints (23), index or nesting limits (54).
 * Undefined for all others.
 */
function findRejectionReason(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const code = String(error.code)
  if (code === '23505') return 'a user already has one of its identities'
  return /^(2[23]|54)/.test(code) ? `the database rejects it: ${error.message}` : undefined
}
