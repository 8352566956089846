/**
 * Whether a load balancer should send requests here: not before the database answers and is migrated, and not once
 * this process has begun to stop.
 */
import { setTimeout as pause } from 'node:timers/promises'

import type { QueryExecutorProvider } from 'kysely'

import { migrationState } from '../db/migrate.ts'
import { withoutTimeLimit } from './context.ts'
import { definePlugin } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readiness: ReturnType<typeof createReadiness>
  }
}

export interface Checks {
  database: boolean
  migrations: boolean
  queue: boolean
}

export interface Readiness {
  ready: boolean
  stopping: boolean
  checks: Checks
}

interface ReadinessDeps {
  db: QueryExecutorProvider
  schema: string
  /** Milliseconds for which no jobs have been done; 0 while the queue works. */
  queueDownMs: () => number
  countConnections: () => Promise<number>
}

/** A database that answers later than this does not answer. */
const answerMs = 2_000
/** Anybody may ask, so the database is asked once a second at most. */
const freshMs = 1_000
/** The queue starts anew by itself after the database was away: that alone is no reason to send nobody here. */
const longestQueuePauseMs = 60_000
/** A balancer that opens a connection for each request has none open now and then, and still sends them here. */
const quietMs = 1_000
/** Asked by machines, every second or two: no work. */
export const healthChecks = ['/health', '/ready']

function createReadiness(deps: ReadinessDeps) {
  const { db, schema, queueDownMs, countConnections } = deps
  let stopping = false
  let askedForWorkAt = Number.NEGATIVE_INFINITY
  let asked: { at: number; checks: Promise<Checks> } | undefined

  async function check(): Promise<Checks> {
    const deadline = AbortSignal.timeout(answerMs)
    const late = new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () => reject(deadline.reason))
    })
    const queue = queueDownMs() < longestQueuePauseMs
    try {
      const { pending } = await Promise.race([migrationState(db, schema), late])
      return { database: true, migrations: pending.length === 0, queue }
    } catch {
      return { database: false, migrations: false, queue }
    }
  }

  return {
    /** Never throws. */
    async check(): Promise<Readiness> {
      const now = performance.now()
      if (!asked || now - asked.at > freshMs) {
        asked = { at: now, checks: withoutTimeLimit(check) }
      }
      const checks = await asked.checks
      const ready = !stopping && checks.database && checks.migrations && checks.queue
      return { ready, stopping, checks }
    },

    get stopping(): boolean {
      return stopping
    },

    /** Somebody was answered on this route. */
    answered(url: string | undefined): void {
      if (url === undefined || !healthChecks.includes(url)) askedForWorkAt = performance.now()
    },

    /**
     * Says "not ready" and ends every connection with its next answer, so that balancers and clients go elsewhere
     * by themselves. Resolves when nobody is connected any more and no request has come for a moment, after `seconds`
     * at the latest.
     */
    async leave(seconds: number): Promise<void> {
      stopping = true
      const end = performance.now() + seconds * 1000
      const isQuiet = async () =>
        performance.now() - askedForWorkAt > quietMs && (await countConnections()) === 0
      while (performance.now() < end && !(await isQuiet())) await pause(50)
    },
  }
}

export default definePlugin({
  name: 'readiness',
  needs: ['config', 'db', 'jobQueue', 'server', 'telemetry', 'addHook'],
  create(house) {
    const { config, db, jobQueue, server, telemetry } = house
    const readiness = createReadiness({
      db,
      schema: config.AUTH_DB_NAMESPACE,
      queueDownMs: jobQueue.downMs,
      countConnections: () =>
        new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0))),
    })
    house.addHook('onSend', (request, reply, _payload, done) => {
      readiness.answered(request.routeOptions.url)
      if (readiness.stopping) reply.header('connection', 'close')
      done()
    })
    telemetry.metrics.gauge('postern.ready', async () => [
      { value: (await readiness.check()).ready ? 1 : 0, labels: {} },
    ])
    return readiness
  },
})
