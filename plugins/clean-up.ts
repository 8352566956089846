/** Removes what has long ended, in small batches and on one replica at a time (docs/sessions.md). */
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger } from 'fastify'

import { findCleanUpAge, putCleanUpRun } from '../db/clean-up-runs.ts'
import type { Db } from '../db/database.ts'
import { cleanUpSteps, type Retention } from './clean-up/steps.ts'
import type { Config } from './config/config.ts'
import { defineExtension, type House } from './define-plugin.ts'

interface CleanUpDeps {
  db: Db
  log: Pick<FastifyBaseLogger, 'info'>
  retention: Retention
  batchSize: number
}

/** Between two batches, so that requests are not kept waiting by a large removal. */
const pauseMs = 25

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
          if (count > 0) await pause(pauseMs)
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
    singlePerUser: config.AUTH_SESSIONS_SINGLE_PER_USER
      ? { tags: config.AUTH_SESSIONS_TAGS }
      : undefined,
    // A flow by mail waits for its link, and then for its code to be exchanged.
    flow: config.AUTH_MAILER_OTP_EXP + flowSeconds,
    challenge: config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION,
    factor: config.AUTH_MFA_FACTOR_EXPIRY_DURATION,
    limits: Math.max(
      guessSeconds,
      // Where it is unset, mails wait for less time than guesses are remembered.
      config.AUTH_SMTP_MAX_FREQUENCY ?? 0,
      config.AUTH_SMS_MAX_FREQUENCY,
      config.AUTH_MFA_PHONE_MAX_FREQUENCY,
    ),
    anonymousUsers: config.AUTH_DB_CLEANUP_ANONYMOUS_USERS_RETENTION,
    auditLog: config.AUTH_AUDIT_RETENTION || undefined,
  }
}

export function configuredCleanUp({ config, db, log }: House<'config' | 'db' | 'log'>) {
  const batchSize = config.AUTH_DB_CLEANUP_BATCH_SIZE
  return createCleanUp({ db, log, retention: retentionOf(config), batchSize })
}

export default defineExtension({
  name: 'clean-up',
  needs: ['config', 'db', 'jobQueue', 'log', 'telemetry'],
  install(house) {
    const { config, db, jobQueue, telemetry } = house
    const cleanUp = configuredCleanUp(house)
    // Added also where it is switched off: another replica may have asked for a run.
    jobQueue.addTask(
      'clean_up',
      async (_payload, { signal }) => {
        if (!config.AUTH_DB_CLEANUP_ENABLED) return
        await cleanUp.run(new Date(), signal)
        if (!signal.aborted) await putCleanUpRun(db, new Date())
      },
      { cron: '41 * * * *' },
    )
    telemetry.metrics.gauge('postern.clean_up.age', async () => {
      const age = config.AUTH_DB_CLEANUP_ENABLED ? await findCleanUpAge(db) : undefined
      return age === undefined ? [] : [{ value: age, labels: {} }]
    })
  },
})
