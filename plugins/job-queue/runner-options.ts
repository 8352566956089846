/** Our tasks and settings in the terms of graphile-worker. */
import { type CronItem, parseCronItems, type RunnerOptions, type Task } from 'graphile-worker'

import { storableText } from '../storable-text.ts'
import { type HousekeepingOptions, housekeeping } from './housekeeping.ts'
import { type QueueLog, toLogger } from './library-log.ts'

export interface JobContext {
  /** Its id. */
  job: string
  /** Aborted some seconds after the server began to stop. */
  signal: AbortSignal
}

export type JobHandler = (payload: unknown, context: JobContext) => Promise<void>

/** Surrounds the work of a job. */
export type AroundJob = (
  job: { id: string; task: string; payload: unknown },
  work: () => Promise<void>,
) => Promise<void>

export interface JobRunnerOptions extends HousekeepingOptions {
  tasks: ReadonlyMap<string, JobHandler>
  crons: readonly CronItem[]
  /** How often jobs are looked for when no notification comes. */
  pollIntervalMs?: number | undefined
  /** Off behind a pooler that cannot keep them. */
  preparedStatements?: boolean | undefined
  around?: AroundJob
}

/** Jobs of one process at a time: enough for mail, and few enough not to be felt; the pool has two connections. */
const concurrency = 2

/** Characters of an error that are kept with its job. */
const keptCharacters = 1_000

/** The jobs of one process that are being done, and what tells them to end. */
export interface Doing {
  active: Set<Promise<void>>
  signal: AbortSignal
}

export function runnerOptions(options: JobRunnerOptions, doing: Doing) {
  const { pool, schema, log, tasks, crons, pollIntervalMs = 2_000 } = options
  const { preparedStatements, around = (_job, work) => work() } = options
  const chores = housekeeping(options)
  const handlers = new Map(tasks)
  for (const { task, run } of chores) handlers.set(task, run)
  const cronItems = [...crons, ...chores].map(({ task, match }) => once({ task, match }))
  return {
    pgPool: pool,
    schema,
    logger: toLogger(log),
    concurrency,
    pollInterval: pollIntervalMs,
    noHandleSignals: true,
    noPreparedStatements: !preparedStatements,
    // In batches, because a single one that fails with a lost database is a rejection nobody handles.
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

/** A run that is due while the one before still waits takes its place. */
function once(item: CronItem): CronItem {
  return { ...item, options: { jobKey: `cron:${item.task}`, maxAttempts: 3, ...item.options } }
}

function toTask(name: string, handler: JobHandler, log: QueueLog, { active, signal }: Doing): Task {
  return async (payload, { job }) => {
    // Not the library's own signal: that comes as well when the library gives up because the database was lost.
    const done = handler(payload, { job: String(job.id), signal })
    active.add(done)
    try {
      await done
    } catch (error) {
      log.error({ err: error, task: name, job: job.id, attempt: job.attempts }, 'a job failed')
      throw asKept(error)
    } finally {
      active.delete(done)
    }
  }
}

/** The library stores the message, which may be what somebody else said, and stops when it cannot. */
function asKept(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return new Error(storableText(message, keptCharacters), { cause: error })
}
