/** The typed database over the connection pool. */
import { createDbWithDialect, type Db } from '../../db/core/database.ts'
import { definePlugin } from '../define-plugin.ts'
import { createDialect } from './driver/index.ts'
import { createUnreadableReport } from './unreadable-json.ts'

declare module 'fastify' {
  interface FastifyInstance {
    db: Db
  }
}

export default definePlugin({
  name: 'db',
  deps: ['config', 'log', 'pool', 'telemetry'],
  create({ config, log, pool, telemetry: { metrics, onStatement } }) {
    const dialect = createDialect(pool, {
      preparesStatements: config.AUTH_DB_PREPARED_STATEMENTS,
      maxDurationMs: config.AUTH_API_MAX_REQUEST_DURATION * 1000,
      onStatement,
      onUnreadable: createUnreadableReport({ log, pool }),
      onConnectionWait: metrics.enabled
        ? (ms) => metrics.record('db.client.connection.wait_time', ms / 1000, {})
        : undefined,
    })
    return createDbWithDialect(dialect, config.AUTH_DB_NAMESPACE)
  },
})
