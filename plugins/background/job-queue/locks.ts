/**
 * Job locks. A process renews the locks it holds, so an older lock belongs to a process that crashed, was stopped or
 * lost the database; other processes take over its jobs.
 */
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import { releaseJobs, renewLocks } from '../../../db/jobs/private-jobs.ts'
import type { JobRecord } from './job-record.ts'
import { type QueueLog, withLibrary } from './maintenance.ts'

export interface LockTimes {
  renewMs: number
  /** Age at which a lock has expired. Together with `renewMs` less than a minute. */
  expireMs: number
}

/** Three renewals in a row may fail. */
const defaultLockTimes: LockTimes = { renewMs: 10_000, expireMs: 40_000 }

export interface LockOptions {
  pool: pg.Pool
  /** The Postgres schema of the queue. */
  schema: string
  log: QueueLog
  lockTimes?: LockTimes | undefined
}

/**
 * Renews the locks of `worker` and releases expired ones until `signal` aborts. Not a job itself, because that job's
 * lock could expire as well. After an outage no lock is released at first, because no process could renew its locks.
 */
export async function keepLocks(
  options: LockOptions,
  worker: () => string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { pool, schema, log, lockTimes: { renewMs, expireMs } = defaultLockTimes } = options
  let renewedAt = performance.now()
  while (!signal.aborted) {
    await pause(renewMs, undefined, { signal }).catch(() => {})
    const id = worker()
    if (signal.aborted || id === undefined) continue
    try {
      await renewLocks(pool, schema, id)
      const wasInTime = performance.now() - renewedAt < 2 * renewMs
      renewedAt = performance.now()
      if (wasInTime) await freeExpired(options, expireMs)
    } catch (error) {
      log.debug({ err: error }, 'job locks not renewed')
    }
  }
}

/** A paused worker that resumes at this moment runs its jobs a second time; jobs are idempotent. */
async function freeExpired(options: LockOptions, expireMs: number): Promise<void> {
  const { pool, schema, log } = options
  const { rows } = await pool.query<{ worker: string; jobs: string[] }>(
    `select locked_by as worker, array_agg(id::text) as jobs from ${pg.escapeIdentifier(schema)}.jobs
     where locked_at < now() - make_interval(secs => $1::float8 / 1000) group by locked_by`,
    [expireMs],
  )
  if (rows.length === 0) return
  const workers = rows.map(({ worker }) => worker)
  await withLibrary(options, (library) => library.forceUnlockWorkers(workers))
  log.warn({ jobs: rows.flatMap(({ jobs }) => jobs) }, 'released jobs of a dead worker')
}

/**
 * Stores what a stopped runner could not: deletes its completed jobs and unlocks the rest, except those still running.
 * Throws without a database.
 */
export async function settleJobs(
  { pool, schema }: LockOptions,
  { worker, jobsThat }: JobRecord,
): Promise<void> {
  const id = worker()
  if (id === undefined) return
  await releaseJobs(pool, schema, {
    worker: id,
    succeeded: jobsThat('succeeded'),
    failed: jobsThat('failed'),
    running: jobsThat('run'),
  })
}
