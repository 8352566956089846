/** `npm run users -- import`: imports users from a file in batches, and resumes an interrupted import. */
import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'

import type { Db, Trx } from '../../db/core/database.ts'
import { tuneBulkLoad } from '../../db/users/bulk.ts'
import {
  findImport,
  finishImport,
  type ImportProgress,
  startImport,
  updateImportProgress,
} from '../../db/users/imports.ts'
import {
  type BulkRecord,
  type Defaults,
  type ImportRejection,
  type ImportRow,
  RejectedRow,
  readRows,
  storeBatch,
  toBulkRecord,
} from '../../modules/user-import/index.ts'
import type { ProgressBar } from './progress-bar.ts'
import { openReport, type Report } from './rejections.ts'

interface ImportOptions {
  file: string
  /** Undefined: reject a file whose earlier import was interrupted. */
  unfinished: 'resume' | 'restart' | undefined
  dryRun: boolean
  defaults: Defaults
  progressBar: ProgressBar
  batchSize?: number
}

interface ImportOutcome {
  imported: number
  refused: number
  reportPath: string
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
  const { file, dryRun, progressBar } = options
  const { size } = await stat(file)
  const reportPath = `${file}.refused.ndjson`
  let progress = await begin(db, await computeDigest(file, size), options)
  let report: Report | undefined
  const batches = readAhead(readBatches(options, progress.settled))
  for await (const { batch, lineBefore } of batches) {
    report ??= await openReport(reportPath, lineBefore)
    progress = await settle(db, batch, progress, report, dryRun)
    const note = `${progress.imported} imported, ${progress.refused} rejected`
    progressBar.show(batch.bytesRead / size, note)
  }
  progressBar.end()
  report ??= await openReport(reportPath, progress.settled === 0 ? 0 : Number.MAX_SAFE_INTEGER)
  if (!dryRun) await finishImport(db, progress.id, new Date())
  return { ...progress, reportPath }
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
async function* readBatches({ file, defaults, batchSize = 1000 }: ImportOptions, skip: number) {
  let [skipped, lineBefore] = [0, 0]
  let batch = emptyBatch()
  for await (const row of readRows(file)) {
    if (skipped < skip) {
      skipped += 1
      lineBefore = row.line
      continue
    }
    addRow(batch, row, defaults, new Date())
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
  defaults: Defaults,
  now: Date,
) {
  batch.rows += 1
  batch.bytesRead = bytesRead
  try {
    batch.records.push(toBulkRecord(value, line, defaults, now))
  } catch (error) {
    if (!(error instanceof RejectedRow)) throw error
    batch.rejections.push({ line, reason: error.message })
  }
}

/** Users and progress are stored in one transaction, so that an interruption neither duplicates nor loses a row. */
async function settle(
  db: Db,
  { rows, records, rejections }: Batch,
  progress: ImportProgress,
  report: Report,
  dryRun: boolean,
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
    const isOurs = await updateImportProgress(trx, progress, next(), new Date())
    if (!isOurs) throw new Error('Another import of this file is running.')
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
