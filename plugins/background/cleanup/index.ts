/** Deletes expired rows in small batches, on one replica at a time (docs/sessions.md). */
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger } from 'fastify'

import type { Config } from '../../../config/groups/index.ts'
import { findCleanUpAge, upsertCleanupRun } from '../../../db/cleanup/cleanup.ts'
import type { Db } from '../../../db/core/database.ts'
import { type Deps, defineHooksPlugin } from '../../define-plugin.ts'
import { cleanupTasks, type Retention } from './steps.ts'

interface CleanUpDeps {
  db: Db
  log: Pick<FastifyBaseLogger, 'info'>
  retention: Retention
  batchSize: number
}

/** Pause between two batches, so that requests do not wait behind a large deletion. */
const pauseMs = 25

export function createCleanup({ db, log, retention, batchSize }: CleanUpDeps) {
  const steps = Object.entries(cleanupTasks(retention))

  return {
    /** Deletes all expired rows; returns how many by kind. Stops early when aborted. */
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
      if (some.length > 0) log.info({ removed: Object.fromEntries(some) }, 'cleanup finished')
      return removed
    },
  }
}

/** How long a failed attempt delays the next one, and how long it counts towards the daily limit. */
const attemptSeconds = 3600
const daySeconds = 86_400

function getRetention(config: Config): Retention {
  const flowSeconds = config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION
  return {
    ended: config.AUTH_DB_CLEANUP_RETENTION,
    sessionTimebox: config.AUTH_SESSIONS_TIMEBOX,
    sessionInactivity: config.AUTH_SESSIONS_INACTIVITY_TIMEOUT,
    singlePerUser: config.AUTH_SESSIONS_SINGLE_PER_USER
      ? { tags: config.AUTH_SESSIONS_TAGS }
      : undefined,
    // An email flow waits for its link, and then for the exchange of its code.
    flow: config.AUTH_MAILER_OTP_EXP + flowSeconds,
    challenge: config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION,
    factor: config.AUTH_MFA_FACTOR_EXPIRY_DURATION,
    throttles: daySeconds,
    limits: Math.max(
      attemptSeconds,
      // When it is unset, the interval between emails is shorter than the time for which failed attempts count.
      config.AUTH_SMTP_MAX_FREQUENCY ?? 0,
      config.AUTH_SMS_MAX_FREQUENCY,
      config.AUTH_MFA_PHONE_MAX_FREQUENCY,
    ),
    quotas: Math.max(
      // As long as the emails of organizations to one address count.
      daySeconds,
      config.AUTH_RATE_LIMIT_EMAIL_SENT.seconds,
      config.AUTH_RATE_LIMIT_SMS_SENT.seconds,
      config.AUTH_RATE_LIMIT_ORGANIZATION_INVITATIONS.seconds,
    ),
    anonymousUsers: config.AUTH_DB_CLEANUP_ANONYMOUS_USERS_RETENTION,
    auditLog: config.AUTH_AUDIT_RETENTION || undefined,
  }
}

export function cleanupFromConfig({ config, db, log }: Deps<'config' | 'db' | 'log'>) {
  const batchSize = config.AUTH_DB_CLEANUP_BATCH_SIZE
  return createCleanup({ db, log, retention: getRetention(config), batchSize })
}

export default defineHooksPlugin({
  name: 'cleanup',
  deps: ['config', 'db', 'jobQueue', 'log', 'telemetry'],
  install(deps) {
    const { config, db, jobQueue, telemetry } = deps
    // Added even when cleanup is disabled here: another replica may have scheduled a run.
    jobQueue.addTask(
      'clean_up',
      async (_payload, { signal }) => {
        if (!config.AUTH_DB_CLEANUP_ENABLED) return
        // Built for each run, because settings may have changed.
        await cleanupFromConfig(deps).run(new Date(), signal)
        if (!signal.aborted) await upsertCleanupRun(db, new Date())
      },
      { cron: '41 * * * *' },
    )
    telemetry.metrics.gauge('postern.cleanup.age', async () => {
      const age = config.AUTH_DB_CLEANUP_ENABLED ? await findCleanUpAge(db) : undefined
      return age === undefined ? [] : [{ value: age, labels: {} }]
    })
  },
})
