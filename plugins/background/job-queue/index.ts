/**
 * Background jobs: rows in Postgres, inserted in the caller's transaction and executed by any replica. Each process
 * uses two connections besides the pool: one listens for notifications, the other fetches and completes jobs. Where
 * LISTEN does not work (poolers in transaction mode), the queue is polled.
 */
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import type { Db } from '../../../db/core/database.ts'
import { findJobBacklog, insertJob, type JobBacklog, type NewJob } from '../../../db/jobs/jobs.ts'
import { endDeadConnections } from '../../database/pool/dead-connections.ts'
import { isPooled } from '../../database/pool/pooler.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { withLogFields } from '../../observability/request-context/index.ts'
import { shareReading } from '../../observability/telemetry/shared-reading.ts'
import type { QueueLog } from './maintenance.ts'
import { JobRunner } from './runner.ts'
import type { AroundJob, JobHandler, JobRunnerOptions } from './runner-options.ts'

type Release = (error?: Error | boolean) => void

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: Release,
) => void

interface QueuePoolOptions extends pg.PoolConfig {
  /** How long connecting is retried. */
  retryMs?: number
}

/** Milliseconds. Longer than for requests, because no client waits. */
const connectionTimeoutMillis = 30_000

const defaultRetryMs = 30_000

const pauseMs = 500

/**
 * The queue's connection pool, which works around two problems of graphile-worker: it gives up when it cannot connect
 * to store a completion, leaving the job locked, so connecting is retried here for a while; and it releases a client
 * twice when the database is lost during a completion, whose unhandled error would end the process.
 */
export class QueuePool extends pg.Pool {
  readonly #retryMs: number

  constructor({ retryMs = defaultRetryMs, ...options }: QueuePoolOptions) {
    super(options)
    this.#retryMs = retryMs
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const connected = this.#connectWithRetries()
    if (!callback) return connected
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    )
    return undefined
  }

  async #connectWithRetries(): Promise<pg.PoolClient> {
    const end = performance.now() + this.#retryMs
    for (;;) {
      try {
        const client = await super.connect()
        client.release = once(client.release)
        return client
      } catch (error) {
        if (this.ending || isFinal(error) || performance.now() > end) throw error
      }
      await pause(pauseMs, undefined, { ref: false })
    }
  }
}

/** Wrong password, missing role or database (SQLSTATE 28, 3D). */
function isFinal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '')
}

/** Two connections: one waits for notifications, the other fetches and finishes jobs. */
export function createQueuePool(options: QueuePoolOptions, log: QueueLog): QueuePool {
  const pool = new QueuePool({ ...options, max: 2, connectionTimeoutMillis })
  pool.on('error', (error) => log.debug({ err: error }, 'job queue lost an idle connection'))
  pool.on('connect', (client) => client.on('error', (error) => log.debug({ err: error })))
  return pool
}

function once(release: Release): Release {
  let isReleased = false
  return (error) => {
    if (isReleased) return
    isReleased = true
    release(error)
  }
}

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

/** Log lines, metrics and spans of jobs. */
function watchJobs({ metrics, tracing }: Deps<'telemetry'>['telemetry']): AroundJob {
  return ({ id, task, payload }, work) =>
    withLogFields({ job: id, task }, async () => {
      let outcome = 'failed'
      try {
        await tracing.job(`job ${task}`, originIn(payload), work)
        outcome = 'done'
      } finally {
        metrics.count('postern.jobs', { task, outcome })
      }
    })
}

/** The trace of the request that queued it; absent in jobs of older versions. */
function originIn(payload: unknown): string | undefined {
  const isObject = typeof payload === 'object' && payload !== null
  const origin = isObject && 'origin' in payload ? payload.origin : undefined
  return typeof origin === 'string' ? origin : undefined
}

interface Queue {
  schema: string
  tasks: () => string[]
}

/** Metrics of queued jobs. */
function addJobBacklogGauges(
  { db, telemetry }: Deps<'db' | 'telemetry'>,
  { schema, tasks }: Queue,
): void {
  const { metrics } = telemetry
  const read = shareReading(() => findJobBacklog(db, schema))

  /** Includes every known task, so that an empty one is reported as 0. */
  async function backlog(): Promise<JobBacklog[]> {
    const found = new Map((await read()).map((one) => [one.task, one]))
    return tasks().map((task) => found.get(task) ?? { task, waiting: 0, failed: 0, overdue: 0 })
  }

  metrics.gauge('postern.jobs.queued', async () =>
    (await backlog()).map(({ task, waiting }) => ({ value: waiting, labels: { task } })),
  )
  metrics.gauge('postern.jobs.failed', async () =>
    (await backlog()).map(({ task, failed }) => ({ value: failed, labels: { task } })),
  )
  metrics.gauge('postern.jobs.oldest_due_age', async () => [
    { value: Math.max(0, ...(await backlog()).map(({ overdue }) => overdue)), labels: {} },
  ])
}
