/** The typed database over the connection pool. */
import { createHash } from 'node:crypto'

import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'

import { createDb, type Db } from '../db/database.ts'
import { definePlugin } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    db: Db
  }
}

/** Statements beyond this many are sent unnamed, so that no connection collects plans without end. */
const maxNamedStatements = 500

/** Gives every statement a name derived from its text, so that Postgres plans it once a connection. */
export function withNamedStatements(pool: pg.Pool): PostgresPool {
  const names = new Map<string, string>()

  function nameOf(text: string): string | undefined {
    const known = names.get(text)
    if (known !== undefined || names.size >= maxNamedStatements) return known
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 32)
    names.set(text, name)
    return name
  }

  function named(client: pg.PoolClient): PostgresPoolClient {
    function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
    function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
    function query(text: unknown, values: readonly unknown[] = []): unknown {
      if (typeof text !== 'string') throw new TypeError('cursors are not used here')
      const name = values.length > 0 ? nameOf(text) : undefined
      return client.query({ text, values: [...values], ...(name !== undefined && { name }) })
    }
    return { query, release: (destroy) => client.release(destroy) }
  }

  return {
    options: pool.options,
    connect: async () => named(await pool.connect()),
    end: () => pool.end(),
  }
}

export default definePlugin({
  name: 'db',
  needs: ['config', 'pool', 'telemetry'],
  create({ config, pool, telemetry }) {
    const source = config.AUTH_DB_PREPARED_STATEMENTS ? withNamedStatements(pool) : pool
    return createDb(source, config.AUTH_DB_NAMESPACE, telemetry.tracing.query)
  },
})
