/** The typed database over the connection pool. */
import { createHash } from 'node:crypto'

import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'

import { createDb, type Db } from '../db/database.ts'
import { type Known, makeKnown, runKnown, type StatementResult } from './db/known-statement.ts'
import { definePlugin, type House } from './define-plugin.ts'
import { withTimeLimits } from './request-duration/limited-pool.ts'

declare module 'fastify' {
  interface FastifyInstance {
    db: Db
  }
}

/** Statements beyond this many are sent unnamed, so that no connection collects plans without end. */
const maxNamedStatements = 500

/**
 * Gives every statement a name derived from its text, so that Postgres plans it once a connection, and describes its rows
 * once.
 */
export function nameStatements(): (client: pg.PoolClient) => PostgresPoolClient {
  const names = new Map<string, string>()
  const known = new WeakMap<pg.PoolClient, Map<string, Known>>()

  function nameOf(text: string): string | undefined {
    const given = names.get(text)
    if (given !== undefined || names.size >= maxNamedStatements) return given
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 32)
    names.set(text, name)
    return name
  }

  async function run(
    client: pg.PoolClient,
    statement: { name: string; text: string },
    values: readonly unknown[],
  ): Promise<StatementResult | pg.QueryResult> {
    const itsOwn = known.get(client) ?? new Map<string, Known>()
    const found = itsOwn.get(statement.name)
    if (found) return runKnown(client, found, values)
    const result = await client.query({ ...statement, values: [...values] })
    known.set(client, itsOwn.set(statement.name, makeKnown(client, statement, result.fields)))
    return result
  }

  return (client) => {
    function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
    function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
    function query(text: unknown, values: readonly unknown[] = []): unknown {
      if (typeof text !== 'string') throw new TypeError('cursors are not used here')
      const name = values.length > 0 ? nameOf(text) : undefined
      return name === undefined
        ? client.query(text, [...values])
        : run(client, { name, text }, values)
    }
    return { query, release: (destroy) => client.release(destroy) }
  }
}

/** Shorter waits are those of a turn of the event loop. */
const leastWaitMs = 1

/** How long work waits until it has a connection, in metrics and, where it is worth a span, in traces. */
function withWaitsMeasured(pool: PostgresPool, telemetry: House<'telemetry'>['telemetry']) {
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
    return createDb(watched, config.AUTH_DB_NAMESPACE, telemetry.onStatement)
  },
})
