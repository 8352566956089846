/**
 * Background jobs: rows in Postgres, inserted in the caller's transaction and executed by any replica. Each process
 * uses two connections besides the pool: one listens for notifications, the other fetches and completes jobs. Where
 * LISTEN does not work (poolers in transaction mode), the queue is polled.
 */
import type pg from 'pg'

import type { Db } from '../../../db/core/database.ts'
import { insertJob, type NewJob } from '../../../db/jobs/jobs.ts'
import { endDeadConnections } from '../../database/pool/dead-connections.ts'
import { isPooled } from '../../database/pool/pooler.ts'
import { definePlugin } from '../../define-plugin.ts'
import { addJobBacklogGauges } from './backlog-gauges.ts'
import { createQueuePool } from './queue-pool.ts'
import { JobRunner } from './runner.ts'
import type { JobHandler, JobRunnerOptions } from './runner-options.ts'
import { watchJobs } from './watch.ts'

declare module 'fastify' {
  interface FastifyInstance {
    jobQueue: ReturnType<typeof createJobQueue>
  }
}

type EnqueueOptions = Omit<NewJob, 'task' | 'payload'>

interface TaskOptions {
  /**
   * Cron pattern in UTC ("* * * * *", at least a minute apart): the task also runs on this schedule, on one replica.
   */
  cron?: string
}

type JobQueueOptions = Omit<JobRunnerOptions, 'tasks' | 'crons'>

export function createJobQueue(options: JobQueueOptions) {
  const tasks = new Map<string, JobHandler>()
  const crons: { task: string; match: string }[] = []
  const runner = new JobRunner({ ...options, tasks, crons })

  return {
    /** The Postgres schema of the queue, for statements that add a job with other rows (db/jobs/jobs.ts). */
    schema: options.schema,

    /**
     * Registers the handler of a task, before the server is ready. A handler that throws is retried with increasing
     * delays; it must be idempotent, because a job may run twice.
     */
    addTask(name: string, handler: JobHandler, { cron }: TaskOptions = {}): void {
      if (runner.started) throw new Error(`task ${name}: tasks are added before the queue starts`)
      if (tasks.has(name)) throw new Error(`task ${name} exists already`)
      tasks.set(name, handler)
      if (cron !== undefined) crons.push({ task: name, match: cron })
    },

    /** The names of all tasks this process can execute. */
    tasks: (): string[] => [...tasks.keys()],

    /** Adds a job in the transaction of `db`, if there is one. */
    enqueue(db: Db, task: string, payload: object, more: EnqueueOptions = {}): Promise<void> {
      return insertJob(db, options.schema, { task, payload, ...more })
    },

    downMs: () => runner.downMs(),
    start: () => runner.start(),
    stop: () => runner.stop(),
  }
}

/**
 * Planner settings. The queue is nearly empty when its statements are planned and the plans are cached: a sequential
 * scan then has the lowest cost, and is slow after many jobs were inserted and deleted. Postgres up to 17 gives a
 * disabled plan a cost of ten billion, which would trigger JIT compilation at each execution, so JIT is off too.
 * Commits are asynchronous: jobs are inserted on other connections, and a completion lost in a crash of Postgres only
 * runs an idempotent job again.
 */
async function setConnection(client: pg.ClientBase): Promise<void> {
  // The settings would remain on the server connection for requests, whose commits must wait for the disk.
  if (await isPooled(client)) return
  await client.query(
    `set enable_seqscan = off; set enable_bitmapscan = off; set jit = off; set synchronous_commit = off;
     set default_transaction_isolation = 'read committed'`,
  )
}

export default definePlugin({
  name: 'jobQueue',
  deps: ['config', 'db', 'log', 'pool', 'telemetry', 'addHook'],
  create(deps) {
    const { config, log } = deps
    // A separate pool: email delivery must not wait while requests keep the main pool busy.
    const options = {
      ...deps.pool.options,
      // Behind a pooler without prepared statements, session settings would leak to other clients.
      ...(config.AUTH_DB_PREPARED_STATEMENTS && { onConnect: setConnection }),
    }
    const pool = createQueuePool(options, log)
    endDeadConnections(pool)
    const queue = createJobQueue({
      pool,
      schema: `${config.AUTH_DB_NAMESPACE}_jobs`,
      log,
      preparedStatements: config.AUTH_DB_PREPARED_STATEMENTS,
      around: watchJobs(deps.telemetry),
    })
    addJobBacklogGauges(deps, queue)
    deps.addHook('onReady', async () => queue.start())
    deps.addHook('onClose', async () => {
      await queue.stop()
      await pool.end()
    })
    return queue
  },
})
