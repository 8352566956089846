/** What the queue does for itself, as jobs of its own. */
import { makeWorkerUtils, type WorkerUtils } from 'graphile-worker'
import pg from 'pg'

import { type QueueLog, toLogger } from './library-log.ts'

export interface HousekeepingOptions {
  pool: pg.Pool
  /** The Postgres schema of the jobs. */
  schema: string
  log: QueueLog
  /** Seconds by task, after which whoever holds such a job has died. */
  leases: ReadonlyMap<string, number>
}

export interface Chore {
  task: string
  /** Cron pattern in UTC. */
  match: string
  run: () => Promise<void>
}

export function housekeeping(options: HousekeepingOptions): Chore[] {
  return [
    { task: 'free_abandoned_jobs', match: '* * * * *', run: () => freeAbandoned(options) },
    { task: 'remove_failed_jobs', match: '17 3 * * *', run: () => removeFailed(options) },
  ]
}

/** Others do what a process had in hand when it died. One that lives after all does it as well, which every job expects. */
async function freeAbandoned(options: HousekeepingOptions): Promise<void> {
  const { pool, schema, log, leases } = options
  const { rows } = await pool.query<{ worker: string }>(
    `select distinct locked_by as worker
     from ${pg.escapeIdentifier(schema)}.jobs
     join unnest($1::text[], $2::float8[]) as leases (task, seconds) on task = task_identifier
     where locked_at < now() - make_interval(secs => seconds)`,
    [[...leases.keys()], [...leases.values()]],
  )
  if (rows.length === 0) return
  const workers = rows.map(({ worker }) => worker)
  await withLibrary(options, (library) => library.forceUnlockWorkers(workers))
  log.warn({ workers }, 'jobs of a process that died are given to others')
}

/** A job that failed for good is of no use to anybody after a day. */
function removeFailed(options: HousekeepingOptions): Promise<void> {
  return withLibrary(options, (library) => library.cleanup({ tasks: ['DELETE_PERMAFAILED_JOBS'] }))
}

async function withLibrary(
  { pool, schema, log }: HousekeepingOptions,
  work: (library: WorkerUtils) => Promise<void>,
): Promise<void> {
  const library = await makeWorkerUtils({ pgPool: pool, schema, logger: toLogger(log) })
  try {
    await work(library)
  } finally {
    await library.release()
  }
}
