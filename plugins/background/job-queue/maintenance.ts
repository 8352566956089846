/** Maintenance of the queue itself, as jobs, and the library's log. */
import type { FastifyBaseLogger } from 'fastify'
import { Logger, makeWorkerUtils, type WorkerUtils } from 'graphile-worker'
import type pg from 'pg'

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

export type QueueLog = Pick<FastifyBaseLogger, 'debug' | 'warn' | 'error'>

/** graphile-worker logs every transient database failure as an error and every job as info; both are lowered. */
export function toLogger(log: QueueLog): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn(`job queue: ${message}`)
    else log.debug(`job queue: ${message}`)
  })
}
