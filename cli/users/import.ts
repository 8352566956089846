/** `npm run users -- import`: imports users from a file in batches, and resumes an interrupted import. */
import { createHash } from 'node:crypto'
import { appendFile, open, readFile, rm, stat, writeFile } from 'node:fs/promises'

import type { Db, Trx } from '../../db/core/database.ts'
import {
  findImport,
  finishImport,
  type ImportProgress,
  startImport,
  tuneBulkLoad,
  updateImportProgress,
} from '../../db/users/bulk.ts'
import {
  type BulkRecord,
  type Defaults,
  type ImportRejection,
  type ImportRow,
  type LeftOut,
  RejectedRow,
  readRows,
  storeBatch,
  toBulkRecord,
} from '../../modules/user-import/index.ts'
import type { ProgressBar } from './progress-bar.ts'

// The report of rejected rows: one JSON object per line, with line number and reason.

interface Report {
  path: string
  add(rejections: ImportRejection[]): Promise<void>
}

/** Created with the first rejected row. When an import resumes, entries after the last stored row are removed. */
export async function openReport(path: string, lastSettledLine: number): Promise<Report> {
  const kept = lastSettledLine === 0 ? [] : await readReport(path, lastSettledLine)
  await (kept.length > 0 ? writeFile(path, toLines(kept)) : rm(path, { force: true }))
  return {
    path,
    add: (rejections) =>
      rejections.length > 0 ? appendFile(path, toLines(rejections)) : Promise.resolve(),
  }
}

/** An interruption may have left an incomplete last line. */
async function readReport(path: string, lastSettledLine: number): Promise<ImportRejection[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line): ImportRejection => JSON.parse(line))
    .filter(({ line }) => line <= lastSettledLine)
}

const toLines = (rejections: ImportRejection[]) =>
  rejections.map((rejection) => `${JSON.stringify(rejection)}\n`).join('')

interface ImportOptions {
  file: string
  /** Undefined: reject a file whose earlier import was interrupted. */
  unfinished: 'resume' | 'restart' | undefined
  dryRun: boolean
  defaults: Defaults
  /** Users with these roles need a confirmed address. */
  adminRoles: readonly string[]
  progressBar: ProgressBar
  /** Records the rows of a batch in its transaction, so that users of an interrupted import are recorded as well. */
  audit(trx: Trx, stored: StoredRows, now: Date): Promise<void>
  batchSize?: number
}

interface StoredRows {
  imported: number
  refused: number
  /** The ids of the users who may call the admin API. */
  admins?: string[]
}

interface ImportOutcome {
  imported: number
  refused: number
  reportPath: string
  /** Of the rows that this run read. */
  leftOut: LeftOut
}

interface Batch {
  rows: number
  records: BulkRecord[]
  rejections: ImportRejection[]
  bytesRead: number
}

class RolledBack extends Error {}

/** Throws an Error with one sentence for the operator. */
export async function importUsers(db: Db, options: ImportOptions): Promise<ImportOutcome> {
  const { file, dryRun, progressBar, adminRoles, audit } = options
  const leftOut: LeftOut = new Map()
  const { size } = await stat(file)
  const reportPath = `${file}.refused.ndjson`
  let progress = await begin(db, await computeDigest(file, size), options)
  let report: Report | undefined
  const batches = readAhead(readBatches(options, progress.settled, leftOut))
  for await (const { batch, lineBefore } of batches) {
    report ??= await openReport(reportPath, lineBefore)
    progress = await settle(db, batch, progress, { report, dryRun, adminRoles, audit })
    const note = `${progress.imported} imported, ${progress.refused} rejected`
    progressBar.show(batch.bytesRead / size, note)
  }
  progressBar.end()
  report ??= await openReport(reportPath, progress.settled === 0 ? 0 : Number.MAX_SAFE_INTEGER)
  if (!dryRun) await finishImport(db, progress.id, new Date())
  return { ...progress, reportPath, leftOut }
}

async function begin(db: Db, id: string, options: ImportOptions): Promise<ImportProgress> {
  const { dryRun, unfinished, file } = options
  if (dryRun) return { id, settled: 0, imported: 0, refused: 0 }
  const earlier = await findImport(db, id)
  const hasBegun = earlier !== undefined && earlier.settled > 0
  // Also a finished import: no row is left.
  if (hasBegun && unfinished === 'resume') return earlier
  if (hasBegun && !earlier.finished_at && unfinished === undefined) {
    throw new Error(
      `An import of ${file} was stopped after ${earlier.settled} rows. Add --resume to continue there, or --restart to start over.`,
    )
  }
  return startImport(db, id, new Date())
}

/** Identifies a file by its length, its beginning and its end, wherever it is stored. */
async function computeDigest(file: string, size: number): Promise<string> {
  const handle = await open(file)
  const part = 65_536
  try {
    const head = await handle.read(Buffer.alloc(part), 0, part, 0)
    const tail = await handle.read(Buffer.alloc(part), 0, part, Math.max(0, size - part))
    const hash = createHash('sha256').update(`${size}\n`)
    hash.update(head.buffer.subarray(0, head.bytesRead))
    return hash.update(tail.buffer.subarray(0, tail.bytesRead)).digest('hex')
  } finally {
    await handle.close()
  }
}

/** Yields batches of validated rows, without the first `skip` rows. */
async function* readBatches(
  { file, defaults, adminRoles, batchSize = 1000 }: ImportOptions,
  skip: number,
  leftOut: LeftOut,
) {
  let [skipped, lineBefore] = [0, 0]
  let batch = emptyBatch()
  for await (const row of readRows(file)) {
    if (skipped < skip) {
      skipped += 1
      lineBefore = row.line
      continue
    }
    addRow(batch, row, { defaults, adminRoles, leftOut }, new Date())
    if (batch.rows < batchSize) continue
    yield { batch, lineBefore }
    batch = emptyBatch()
  }
  if (batch.rows > 0) yield { batch, lineBefore }
}

/** Reads and validates the next batch while the database stores the previous one. */
async function* readAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = source.next()
  for (;;) {
    const { done, value } = await next
    if (done) return
    next = source.next()
    // Prevents an unhandled rejection: the error is thrown when the batch is requested.
    next.catch(() => {})
    yield value
  }
}

const emptyBatch = (): Batch => ({ rows: 0, records: [], rejections: [], bytesRead: 0 })

function addRow(
  batch: Batch,
  { line, value, bytesRead }: ImportRow,
  reading: { defaults: Defaults; adminRoles: readonly string[]; leftOut: LeftOut },
  now: Date,
) {
  batch.rows += 1
  batch.bytesRead = bytesRead
  try {
    const record = toBulkRecord(value, line, reading, now)
    requireHolder(record, reading.adminRoles)
    batch.records.push(record)
  } catch (error) {
    if (!(error instanceof RejectedRow)) throw error
    batch.rejections.push({ line, reason: error.message })
  }
}

/** A role on the server is for the holder of an address, as for every other way to give one. Throws RejectedRow. */
function requireHolder({ user }: BulkRecord, adminRoles: readonly string[]): void {
  const { role, email, email_confirmed_at, phone_confirmed_at } = user
  if (!adminRoles.includes(role) || (email ? email_confirmed_at : phone_confirmed_at)) return
  throw new RejectedRow(
    `the role ${role} gives access to the admin API and needs a confirmed address: add email_confirmed_at`,
  )
}

type SettleOptions = { report: Report } & Pick<ImportOptions, 'dryRun' | 'adminRoles' | 'audit'>

/** Users and progress are stored in one transaction, so that an interruption neither duplicates nor loses a row. */
async function settle(
  db: Db,
  { rows, records, rejections }: Batch,
  progress: ImportProgress,
  { report, dryRun, adminRoles, audit }: SettleOptions,
): Promise<ImportProgress> {
  let refused: ImportRejection[] = []
  const next = () => ({
    id: progress.id,
    settled: progress.settled + rows,
    imported: progress.imported + rows - refused.length,
    refused: progress.refused + refused.length,
  })
  const store = async (trx: Trx) => {
    await tuneBulkLoad(trx)
    const unstored = await storeBatch(trx, records)
    refused = [...rejections, ...unstored].sort((a, b) => a.line - b.line)
    if (dryRun) throw new RolledBack()
    const now = new Date()
    const isOurs = await updateImportProgress(trx, progress, next(), now)
    if (!isOurs) throw new Error('Another import of this file is running.')
    const lines = new Set(unstored.map(({ line }) => line))
    const admins = records
      .filter(({ line, user }) => adminRoles.includes(user.role) && !lines.has(line))
      .map(({ user }) => user.id)
    const counts = { imported: rows - refused.length, refused: refused.length }
    await audit(trx, { ...counts, ...(admins.length > 0 && { admins }) }, now)
    // Before the commit: entries of an interrupted import are removed when it resumes.
    await report.add(refused)
  }
  try {
    await db.transaction().execute(store)
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
    await report.add(refused)
  }
  return next()
}
