/** The typed database over the connection pool. */
import type pg from 'pg'

import { createDbWithDialect, type Db } from '../../db/core/database.ts'
import type { ReportUnreadable } from '../../db/core/stored-json.ts'
import { type Deps, definePlugin } from '../define-plugin.ts'
import { createDialect } from './driver/index.ts'

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

/** One list of users may have a thousand such values. */
const pauseMs = 60_000

/**
 * Names the columns whose JSON is of another kind than the server writes, so that an operator can repair them: each column
 * and kind of value once a minute.
 */
export function createUnreadableReport({ log, pool }: Deps<'log' | 'pool'>): ReportUnreadable {
  const loggedAt = new Map<string, number>()
  return ({ column, found, tableId }) => {
    const now = Date.now()
    const key = `${tableId} ${column} ${found}`
    if (now - (loggedAt.get(key) ?? -pauseMs) < pauseMs) return
    loggedAt.set(key, now)
    void findTable(pool, tableId).then((table) => {
      log.warn({ table, column, found }, 'JSON left out: the column holds another kind of value')
    })
  }
}

/** Undefined when it is unknown. */
async function findTable(pool: pg.Pool, tableId: number | undefined): Promise<string | undefined> {
  if (tableId === undefined) return undefined
  const text = 'select $1::oid::regclass::text as name'
  const found = await pool.query<{ name: string }>(text, [tableId]).catch(() => undefined)
  return found?.rows[0]?.name
}
