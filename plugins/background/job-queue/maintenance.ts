/** Maintenance of the queue itself, as jobs. */
import { makeWorkerUtils, type WorkerUtils } from 'graphile-worker'
import type pg from 'pg'

import { type QueueLog, toLogger } from './library-log.ts'

interface QueueMaintenanceOptions {
  pool: pg.Pool
  /** The Postgres schema of the queue. */
  schema: string
  log: QueueLog
}

interface MaintenanceTask {
  task: string
  /** Cron pattern in UTC. */
  match: string
  run: () => Promise<void>
}

export function queueMaintenance(options: QueueMaintenanceOptions): MaintenanceTask[] {
  return [{ task: 'remove_failed_jobs', match: '17 3 * * *', run: () => removeFailed(options) }]
}

/** Deletes permanently failed jobs after a day. */
function removeFailed(options: QueueMaintenanceOptions): Promise<void> {
  return withLibrary(options, (library) => library.cleanup({ tasks: ['DELETE_PERMAFAILED_JOBS'] }))
}

export async function withLibrary(
  { pool, schema, log }: QueueMaintenanceOptions,
  work: (library: WorkerUtils) => Promise<void>,
): Promise<void> {
  const library = await makeWorkerUtils({ pgPool: pool, schema, logger: toLogger(log) })
  try {
    await work(library)
  } finally {
    await library.release()
  }
}
