/** The typed database over the connection pool. */
import { createDb, type Db } from '../db/database.ts'
import { nameStatements } from './db/named-statements.ts'
import { shareCommits } from './db/shared-commits.ts'
import { definePlugin, type House } from './define-plugin.ts'
import { type ConnectionPool, withTimeLimits } from './request-duration/limited-pool.ts'

declare module 'fastify' {
  interface FastifyInstance {
    db: Db
  }
}

/** Shorter waits are those of a turn of the event loop. */
const leastWaitMs = 1

/** How long work waits until it has a connection, in metrics and, where it is worth a span, in traces. */
function withWaitsMeasured(
  pool: ConnectionPool,
  telemetry: House<'telemetry'>['telemetry'],
): ConnectionPool {
  const { metrics, tracing } = telemetry
  if (!metrics.enabled && !tracing.enabled) return pool

  function waited(since: number, failed: boolean): void {
    const ms = performance.now() - since
    metrics.record('postern.db_pool.wait', ms / 1000, {})
    if (failed || ms >= leastWaitMs) tracing.ended(() => ({ name: 'pool wait', ms, failed }))
  }

  return {
    options: pool.options,
    async connect() {
      const since = performance.now()
      let failed = true
      try {
        const client = await pool.connect()
        failed = false
        return client
      } finally {
        waited(since, failed)
      }
    },
    end: () => pool.end(),
  }
}

export default definePlugin({
  name: 'db',
  needs: ['config', 'pool', 'telemetry'],
  create({ config, pool, telemetry }) {
    const isNamed = config.AUTH_DB_PREPARED_STATEMENTS
    const source = withTimeLimits(pool, isNamed ? nameStatements() : (client) => client)
    const watched = withWaitsMeasured(source, telemetry)
    const longestMs = config.AUTH_API_MAX_REQUEST_DURATION * 1000
    return createDb(watched, config.AUTH_DB_NAMESPACE, {
      onQuery: telemetry.onStatement,
      // Only statements that have names go out in one message.
      sharing: isNamed ? shareCommits(watched, { longestMs }) : undefined,
    })
  },
})
