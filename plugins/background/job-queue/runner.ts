/** Supervises a graphile-worker runner: when it stops because the database was lost, a new one is created. */
import { setTimeout as pause } from 'node:timers/promises'

import { run } from 'graphile-worker'

import { isPooled } from '../../database/pool/pooler.ts'
import { createJobRecord, type JobRecord } from './job-record.ts'
import { keepLocks, settleJobs } from './locks.ts'
import { type JobRunnerOptions, runnerOptions } from './runner-options.ts'

const firstRestartMs = 1_000
const lastRestartMs = 30_000
/** Time between stopping the queue and aborting its jobs. */
const abortAfterMs = 5_000
/** How long stopping waits for the runner once no job is running: it may be waiting for a lost database. */
const stopMs = 3_000

export class JobRunner {
  readonly #options: JobRunnerOptions
  readonly #stopping = new AbortController()
  readonly #ending = new AbortController()
  readonly #ended = new AbortController()
  readonly #stopRequested = new Promise((resolve) => {
    this.#stopping.signal.addEventListener('abort', resolve)
  })
  readonly #active = new Set<Promise<void>>()
  /** Of the current runner, or of the last one. */
  #record: JobRecord = createJobRecord()
  #supervised: Promise<void> | undefined
  #stopped: Promise<void> | undefined
  #downSince: number | undefined = performance.now()

  constructor(options: JobRunnerOptions) {
    this.#options = options
  }

  get started(): boolean {
    return this.#supervised !== undefined
  }

  /** Milliseconds without a working runner; 0 while it runs. */
  downMs(): number {
    return this.#downSince === undefined ? 0 : performance.now() - this.#downSince
  }

  /** Returns immediately; without a database the queue starts once there is one. */
  start(): void {
    this.#supervised ??= this.#supervise()
    void keepLocks(this.#options, () => this.#record.worker(), this.#ended.signal)
  }

  /** Waits for running jobs and starts no others. May be called more than once. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  /** Starts a new runner whenever one has stopped. */
  async #supervise(): Promise<void> {
    const { signal } = this.#stopping
    let restartMs = firstRestartMs
    while (!signal.aborted) {
      const startedAt = performance.now()
      await this.#runOnce().catch((error) => {
        this.#options.log.warn({ err: error }, 'job queue stopped, restarting')
      })
      if (performance.now() - startedAt > lastRestartMs) restartMs = firstRestartMs
      await pause(restartMs, undefined, { signal }).catch(() => {})
      restartMs = Math.min(restartMs * 2, lastRestartMs)
    }
  }

  async #runOnce(): Promise<void> {
    const { signal } = this.#stopping
    let taskList: Record<string, unknown> = {}
    try {
      const preparedStatements = await keepsPlans(this.#options)
      await settleJobs(this.#options, this.#record)
      this.#record = createJobRecord()
      const doing = { active: this.#active, signal: this.#ending.signal, record: this.#record }
      const options = runnerOptions({ ...this.#options, preparedStatements }, doing)
      taskList = options.taskList
      const runner = await run(options)
      this.#downSince = undefined
      if (!signal.aborted) await Promise.race([runner.promise, this.#stopRequested])
      if (signal.aborted) await runner.stop()
    } finally {
      this.#downSince ??= performance.now()
      // The library keeps the options of each runner, and so all objects that its tasks reference.
      for (const name of Object.keys(taskList)) delete taskList[name]
    }
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    setTimeout(() => this.#ending.abort(), abortAfterMs).unref()
    // First without a limit: each job has its own.
    while (this.#active.size > 0) await Promise.allSettled(this.#active)
    await Promise.race([this.#supervised, pause(stopMs, undefined, { ref: false })])
    this.#ended.abort()
  }
}

/** Behind a pooler, statements would be planned without the settings made on our own connections (index.ts). */
async function keepsPlans({ pool, preparedStatements = true }: JobRunnerOptions): Promise<boolean> {
  if (!preparedStatements) return false
  const client = await pool.connect()
  try {
    return !(await isPooled(client))
  } finally {
    client.release()
  }
}
