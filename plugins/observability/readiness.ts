/**
 * The readiness check for load balancers: not ready before the database responds and is migrated, and again once
 * shutdown has begun.
 */
import { setTimeout as pause } from 'node:timers/promises'

import type { QueryExecutorProvider } from 'kysely'

import { migrationState } from '../../db/migrate/index.ts'
import { definePlugin } from '../define-plugin.ts'
import { withoutDeadline } from './request-context/index.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readiness: ReturnType<typeof createReadiness>
  }
}

interface Checks {
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
  /** Milliseconds without a working job queue; 0 while it works. */
  queueDownMs: () => number
  countConnections: () => Promise<number>
}

/** A slower database counts as unavailable. */
const maxResponseMs = 2_000
/** The endpoint is public, so the database is queried once a second at most. */
const maxAgeMs = 1_000
/**
 * The queue restarts by itself after an outage of the database; a short interruption does not make the server unready.
 */
const maxQueuePauseMs = 60_000
/** A load balancer that connects per request has no open connections at times and still sends requests here. */
const idleMs = 1_000
/** Called by load balancers every second or two, so they do not count as traffic. */
export const healthChecks = ['/health', '/ready']

function createReadiness(deps: ReadinessDeps) {
  const { db, schema, queueDownMs, countConnections } = deps
  let stopping = false
  let lastRequestAt = Number.NEGATIVE_INFINITY
  let latest: { at: number; checks: Promise<Checks> } | undefined

  async function check(): Promise<Checks> {
    const deadline = AbortSignal.timeout(maxResponseMs)
    const timeout = new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () => reject(deadline.reason))
    })
    const queue = queueDownMs() < maxQueuePauseMs
    try {
      const { pending } = await Promise.race([migrationState(db, schema), timeout])
      return { database: true, migrations: pending.length === 0, queue }
    } catch {
      return { database: false, migrations: false, queue }
    }
  }

  return {
    /** Never throws. */
    async check(): Promise<Readiness> {
      const now = performance.now()
      if (!latest || now - latest.at > maxAgeMs) {
        latest = { at: now, checks: withoutDeadline(check) }
      }
      const checks = await latest.checks
      const ready = !stopping && checks.database && checks.migrations && checks.queue
      return { ready, stopping, checks }
    },

    get stopping(): boolean {
      return stopping
    },

    /** A user's request was served on this route. */
    requestServed(url: string | undefined): void {
      if (url === undefined || !healthChecks.includes(url)) lastRequestAt = performance.now()
    },

    /**
     * Reports "not ready" and closes every connection after its next response, so that load balancers and clients move
     * to other replicas. Resolves when no connection is open and no request has come for `idleMs`, after `seconds` at
     * the latest.
     */
    async leave(seconds: number): Promise<void> {
      stopping = true
      const end = performance.now() + seconds * 1000
      const isIdle = async () =>
        performance.now() - lastRequestAt > idleMs && (await countConnections()) === 0
      while (performance.now() < end && !(await isIdle())) await pause(50)
    },
  }
}

export default definePlugin({
  name: 'readiness',
  deps: ['config', 'db', 'jobQueue', 'server', 'telemetry', 'addHook'],
  create(deps) {
    const { config, db, jobQueue, server, telemetry } = deps
    const readiness = createReadiness({
      db,
      schema: config.AUTH_DB_NAMESPACE,
      queueDownMs: jobQueue.downMs,
      countConnections: () =>
        new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0))),
    })
    deps.addHook('onSend', (request, reply, _payload, done) => {
      readiness.requestServed(request.routeOptions.url)
      if (readiness.stopping) reply.header('connection', 'close')
      done()
    })
    telemetry.metrics.gauge('postern.ready', async () => [
      { value: (await readiness.check()).ready ? 1 : 0, labels: {} },
    ])
    return readiness
  },
})
