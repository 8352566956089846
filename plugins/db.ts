/** The connection pool and the typed database over it. */
import { createHash } from 'node:crypto'

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'

import { createDb, type Db } from '../db/database.ts'

declare module 'fastify' {
  interface FastifyInstance {
    db: Db
    pool: pg.Pool
  }
}

// sessions.refreshed_at has no time zone and is UTC: dates must go in as UTC and come out as UTC.
pg.defaults.parseInputDatesAsUTC = true
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.TIMESTAMP, (text) => new Date(`${text.replace(' ', 'T')}Z`))
types.setTypeParser(pg.types.builtins.INT8, Number)

/** Statements beyond this many are sent unnamed, so that no connection collects plans without end. */
const maxNamedStatements = 500

export interface PoolOptions {
  connectionString: string
  /** 0 means 100 connections. */
  max: number
  log: Pick<FastifyBaseLogger, 'warn'>
}

export function createPool({ connectionString, max, log }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: max === 0 ? 100 : max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'postern',
    types,
  })
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))
  // The same for one in use, whose loss the statement under way reports.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

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

async function database(fastify: FastifyInstance) {
  const { config, log, metrics, tracing } = fastify
  const pool = createPool({
    connectionString: config.DATABASE_URL,
    max: config.AUTH_DB_MAX_POOL_SIZE,
    log,
  })
  const source = config.AUTH_DB_PREPARED_STATEMENTS ? withNamedStatements(pool) : pool
  fastify.decorate('pool', pool)
  fastify.decorate('db', createDb(source, config.AUTH_DB_NAMESPACE, tracing.query))
  metrics.gauge('postern.db_pool.connections', () => [
    { value: pool.totalCount - pool.idleCount, labels: { state: 'used' } },
    { value: pool.idleCount, labels: { state: 'idle' } },
  ])
  metrics.gauge('postern.db_pool.waiting', () => [{ value: pool.waitingCount, labels: {} }])
  fastify.addHook('onClose', () => pool.end())
}

export default fp(database, {
  name: 'db',
  fastify: '5.x',
  dependencies: ['config', 'telemetry'],
})
