/** Keeps a graphile-worker runner alive: when it gives up, because the database went away, a new one is made. */
import { setTimeout as pause } from 'node:timers/promises'

import { run } from 'graphile-worker'

import { isPooled } from '../pool/pooler.ts'
import { type JobRunnerOptions, runnerOptions } from './runner-options.ts'

const firstRestartMs = 1_000
const lastRestartMs = 30_000
/** How long after the queue was told to stop its jobs are told. */
const tellJobsMs = 5_000
/** How long stopping waits for the runner once no job is being done: it may be waiting for a lost database. */
const stopMs = 3_000

export function createJobRunner(options: JobRunnerOptions) {
  const { log } = options
  const stopping = new AbortController()
  const ending = new AbortController()
  const asked = new Promise((resolve) => stopping.signal.addEventListener('abort', resolve))
  const active = new Set<Promise<void>>()
  let supervised: Promise<void> | undefined
  let stopped: Promise<void> | undefined
  let downSince: number | undefined = performance.now()

  async function once(): Promise<void> {
    try {
      const preparedStatements = await keepsPlans(options)
      const doing = { active, signal: ending.signal }
      const runner = await run(runnerOptions({ ...options, preparedStatements }, doing))
      downSince = undefined
      if (!stopping.signal.aborted) await Promise.race([runner.promise, asked])
      if (stopping.signal.aborted) await runner.stop()
    } finally {
      downSince ??= performance.now()
    }
  }

  async function supervise(): Promise<void> {
    let restartMs = firstRestartMs
    while (!stopping.signal.aborted) {
      const startedAt = performance.now()
      await once().catch((error) => {
        log.warn({ err: error }, 'the job queue stopped and will be started again')
      })
      if (performance.now() - startedAt > lastRestartMs) restartMs = firstRestartMs
      await pause(restartMs, undefined, { signal: stopping.signal }).catch(() => {})
      restartMs = Math.min(restartMs * 2, lastRestartMs)
    }
  }

  async function stop(): Promise<void> {
    stopping.abort()
    setTimeout(() => ending.abort(), tellJobsMs).unref()
    // First without a limit: each job has its own.
    while (active.size > 0) await Promise.allSettled(active)
    await Promise.race([supervised, pause(stopMs, undefined, { ref: false })])
  }

  return {
    get started() {
      return supervised !== undefined
    },

    /** Milliseconds for which no jobs have been done; 0 while it runs. */
    downMs: () => (downSince === undefined ? 0 : performance.now() - downSince),

    /** Returns at once; without a database the queue starts when there is one. */
    start(): void {
      supervised ??= supervise()
    },

    /** Waits for the jobs that are being done and begins no other. May be called more than once. */
    stop(): Promise<void> {
      stopped ??= stop()
      return stopped
    },
  }
}

/** Behind a pooler, plans would be made without what is set on connections of our own (plugins/job-queue.ts). */
async function keepsPlans({ pool, preparedStatements = true }: JobRunnerOptions): Promise<boolean> {
  if (!preparedStatements) return false
  const client = await pool.connect()
  try {
    return !(await isPooled(client))
  } finally {
    client.release()
  }
}
