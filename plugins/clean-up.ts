/** Removes what has long ended, in small batches and on one replica at a time (docs/sessions.md). */
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db } from '../db/database.ts'
import type { Config } from '../schemas/config/config.ts'
import { cleanUpSteps, type Retention } from './clean-up/steps.ts'

declare module 'fastify' {
  interface FastifyInstance {
    cleanUp: ReturnType<typeof createCleanUp>
  }
}

interface CleanUpDeps {
  db: Db
  log: Pick<FastifyBaseLogger, 'info'>
  retention: Retention
  batchSize: number
}

/** Between two batches, so that requests are not kept waiting by a large removal. */
const breathMs = 25

export function createCleanUp({ db, log, retention, batchSize }: CleanUpDeps) {
  const steps = Object.entries(cleanUpSteps(retention))

  return {
    /** Removes everything that is old; returns the rows removed by kind. Ends early when aborted. */
    async run(now: Date, signal?: AbortSignal): Promise<Record<string, number>> {
      const removed: Record<string, number> = {}
      for (const [kind, step] of steps) {
        if (signal?.aborted) break
        for await (const count of step(db, now, batchSize)) {
          removed[kind] = (removed[kind] ?? 0) + count
          if (signal?.aborted) break
          if (count > 0) await pause(breathMs)
        }
      }
      const some = Object.entries(removed).filter(([, count]) => count > 0)
      if (some.length > 0) log.info({ removed: Object.fromEntries(some) }, 'old rows were removed')
      return removed
    },
  }
}

/** The longest time during which a failed guess is remembered. */
const guessSeconds = 3600

function retentionOf(config: Config): Retention {
  const flowSeconds = config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION
  return {
    ended: config.AUTH_DB_CLEANUP_RETENTION,
    sessionTimebox: config.AUTH_SESSIONS_TIMEBOX,
    sessionInactivity: config.AUTH_SESSIONS_INACTIVITY_TIMEOUT,
    // A flow by mail waits for its link, and then for its code to be exchanged.
    flow: config.AUTH_MAILER_OTP_EXP + flowSeconds,
    limits: Math.max(
      guessSeconds,
      config.AUTH_SMTP_MAX_FREQUENCY ?? 900,
      config.AUTH_SMS_MAX_FREQUENCY,
    ),
    anonymousUsers: config.AUTH_DB_CLEANUP_ANONYMOUS_USERS_RETENTION,
    auditLog: config.AUTH_DB_CLEANUP_AUDIT_LOG_RETENTION,
  }
}

async function cleanUp(fastify: FastifyInstance) {
  const { config, db, jobQueue, log } = fastify
  const batchSize = config.AUTH_DB_CLEANUP_BATCH_SIZE
  const decorator = createCleanUp({ db, log, retention: retentionOf(config), batchSize })
  fastify.decorate('cleanUp', decorator)
  // Added also where it is switched off: another replica may have asked for a run.
  jobQueue.addTask(
    'clean_up',
    async (_payload, { signal }) => {
      if (config.AUTH_DB_CLEANUP_ENABLED) await decorator.run(new Date(), signal)
    },
    { cron: '41 * * * *' },
  )
}

export default fp(cleanUp, {
  name: 'clean-up',
  fastify: '5.x',
  dependencies: ['config', 'db', 'job-queue'],
})
