/**
 * Work in the background: jobs are rows in Postgres, made in the caller's transaction and done by any replica.
 * One process uses two connections for it, beside those of the pool: one waits for notifications, the other
 * fetches and finishes jobs. Where LISTEN does not work (poolers in transaction mode), jobs are polled for.
 */
import type pg from 'pg'

import type { Db } from '../db/database.ts'
import { insertJob, type NewJob } from '../db/jobs.ts'
import { definePlugin } from './define-plugin.ts'
import { addBacklogGauges } from './job-queue/backlog-gauges.ts'
import { QueuePool } from './job-queue/queue-pool.ts'
import { createJobRunner } from './job-queue/runner.ts'
import type { JobHandler, JobRunnerOptions } from './job-queue/runner-options.ts'
import { watchJobs } from './job-queue/watch.ts'
import { endDeadConnections } from './pool/dead-connections.ts'
import { isPooled } from './pool/pooler.ts'

declare module 'fastify' {
  interface FastifyInstance {
    jobQueue: ReturnType<typeof createJobQueue>
  }
}

export type EnqueueOptions = Omit<NewJob, 'task' | 'payload'>

export interface TaskOptions {
  /** Cron pattern in UTC ("* * * * *", at least a minute apart): the task also runs by itself, on one replica. */
  cron?: string
  /**
   * Seconds, more than such a job ever takes: a process that has had one for longer has died, and others do what it had.
   * Without it they wait for four hours.
   */
  leaseSeconds?: number
}

export type JobQueueOptions = Omit<JobRunnerOptions, 'tasks' | 'crons' | 'leases'>

export function createJobQueue(options: JobQueueOptions) {
  const tasks = new Map<string, JobHandler>()
  const crons: { task: string; match: string }[] = []
  const leases = new Map<string, number>()
  const runner = createJobRunner({ ...options, tasks, crons, leases })

  return {
    /** The Postgres schema of the jobs, for statements that add one among other things (db/jobs.ts). */
    schema: options.schema,

    /**
     * Says how jobs of this name are done; before the server is ready. A handler that throws is called again
     * later, with growing pauses; it must expect to be called twice for one job.
     */
    addTask(name: string, handler: JobHandler, { cron, leaseSeconds }: TaskOptions = {}): void {
      if (runner.started) throw new Error(`task ${name}: tasks are added before the queue starts`)
      if (tasks.has(name)) throw new Error(`task ${name} exists already`)
      tasks.set(name, handler)
      if (cron !== undefined) crons.push({ task: name, match: cron })
      if (leaseSeconds !== undefined) leases.set(name, leaseSeconds)
    },

    /** The names of all jobs that this process can do. */
    tasks: (): string[] => [...tasks.keys()],

    /** Adds a job in the transaction that `db` is in, if any: no commit, no job. */
    enqueue(db: Db, task: string, payload: object, more: EnqueueOptions = {}): Promise<void> {
      return insertJob(db, options.schema, { task, payload, ...more })
    },

    downMs: runner.downMs,
    start: runner.start,
    stop: runner.stop,
  }
}

/**
 * The queue is nearly empty when its plans are made, and they are kept: reading it from end to end is the best way then,
 * and the worst when many jobs have been made and done. It does not wait for the disk: jobs are made on other connections,
 * and one whose end a crash of Postgres forgets is done once more, which every job expects.
 */
async function setConnection(client: pg.ClientBase): Promise<void> {
  // It would stay behind for requests, whose commits have to wait for the disk.
  if (await isPooled(client)) return
  await client.query(
    `set enable_seqscan = off; set enable_bitmapscan = off; set synchronous_commit = off;
     set default_transaction_isolation = 'read committed'`,
  )
}

export default definePlugin({
  name: 'jobQueue',
  needs: ['config', 'db', 'log', 'pool', 'telemetry', 'addHook'],
  create(house) {
    const { config, log } = house
    // Not the pool of the requests: a queue that waits for a busy pool would not send mail when it matters.
    const pool = new QueuePool({
      ...house.pool.options,
      max: 2,
      // Behind a pooler that keeps no statements, the connection is not ours to set.
      ...(config.AUTH_DB_PREPARED_STATEMENTS && { onConnect: setConnection }),
    })
    pool.on('error', (error) => log.debug({ err: error }, 'the job queue lost an idle connection'))
    pool.on('connect', (client) => client.on('error', (error) => log.debug({ err: error })))
    endDeadConnections(pool)
    const queue = createJobQueue({
      pool,
      schema: `${config.AUTH_DB_NAMESPACE}_jobs`,
      log,
      preparedStatements: config.AUTH_DB_PREPARED_STATEMENTS,
      around: watchJobs(house.telemetry),
    })
    addBacklogGauges(house, queue)
    house.addHook('onReady', async () => queue.start())
    house.addHook('onClose', async () => {
      await queue.stop()
      await pool.end()
    })
    return queue
  },
})
