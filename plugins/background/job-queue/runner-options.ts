/** Translates tasks and settings into graphile-worker's options. */
import { type CronItem, parseCronItems, type RunnerOptions, type Task } from 'graphile-worker'

import { assertPostgresText } from '../../../schemas/postgres-text.ts'
import type { JobRecord } from './job-record.ts'
import type { LockOptions } from './locks.ts'
import { type QueueLog, queueMaintenance, toLogger } from './maintenance.ts'

export interface JobContext {
  /** The job's id. */
  job: string
  /** Aborted some seconds after shutdown began. */
  signal: AbortSignal
}

export type JobHandler = (payload: unknown, context: JobContext) => Promise<void>

/** Wraps the execution of a job. */
export type AroundJob = (
  job: { id: string; task: string; payload: unknown },
  work: () => Promise<void>,
) => Promise<void>

export interface JobRunnerOptions extends LockOptions {
  tasks: ReadonlyMap<string, JobHandler>
  crons: readonly CronItem[]
  /** Polling interval when no notification arrives. */
  pollIntervalMs?: number | undefined
  /** Off behind a pooler without prepared statements. */
  preparedStatements?: boolean | undefined
  around?: AroundJob
}

/** Concurrent jobs per process: enough for email without slowing requests; the pool has two connections. */
const concurrency = 2

/** Maximum characters of an error message stored with its job. */
const maxCharacters = 1_000

/** Jobs running in this process, and the signal that aborts them. */
interface JobExecution {
  active: Set<Promise<void>>
  signal: AbortSignal
  record: JobRecord
}

export function runnerOptions(options: JobRunnerOptions, doing: JobExecution) {
  const { pool, schema, log, tasks, crons, pollIntervalMs = 2_000 } = options
  const { preparedStatements, around = (_job, work) => work() } = options
  const maintenanceTasks = queueMaintenance(options)
  const handlers = new Map(tasks)
  for (const { task, run } of maintenanceTasks) handlers.set(task, run)
  const cronItems = [...crons, ...maintenanceTasks].map(({ task, match }) => once({ task, match }))
  return {
    pgPool: pool,
    schema,
    events: doing.record.events,
    logger: toLogger(log),
    concurrency,
    pollInterval: pollIntervalMs,
    noHandleSignals: true,
    noPreparedStatements: !preparedStatements,
    // In batches, because an individual completion that fails with a lost database is an unhandled rejection.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: Object.fromEntries(
      [...handlers].map(([name, handler]) => {
        const done: JobHandler = (payload, context) =>
          around({ id: context.job, task: name, payload }, () => handler(payload, context))
        return [name, toTask(name, done, log, doing)]
      }),
    ),
    parsedCronItems: parseCronItems(cronItems),
  } satisfies RunnerOptions
}

/** A run that is due while the previous one is still queued replaces it. */
function once(item: CronItem): CronItem {
  return { ...item, options: { jobKey: `cron:${item.task}`, maxAttempts: 3, ...item.options } }
}

function toTask(name: string, handler: JobHandler, log: QueueLog, doing: JobExecution): Task {
  const { active, signal, record } = doing
  return async (payload, { job }) => {
    const id = String(job.id)
    record.set(id, 'run')
    // Not the library's own signal, which also aborts when the library gives up on a lost database.
    const done = handler(payload, { job: id, signal })
    active.add(done)
    try {
      await done
      record.set(id, 'succeeded')
    } catch (error) {
      record.set(id, 'failed')
      log.error({ err: error, task: name, job: job.id, attempt: job.attempts }, 'job failed')
      throw toStorableError(error)
    } finally {
      active.delete(done)
    }
  }
}

/** The library stores the message, which may contain a user's input, and stops when Postgres cannot store it. */
function toStorableError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return new Error(assertPostgresText(message, maxCharacters), { cause: error })
}
