/** The connection pool, and how values of Postgres are read and written. */
import type { FastifyBaseLogger } from 'fastify'
import pg from 'pg'

import { definePlugin } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    pool: pg.Pool
  }
}

// sessions.refreshed_at has no time zone and is UTC: dates must go in as UTC and come out as UTC.
pg.defaults.parseInputDatesAsUTC = true
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.TIMESTAMP, (text) => new Date(`${text.replace(' ', 'T')}Z`))
types.setTypeParser(pg.types.builtins.INT8, Number)
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, readTimestamp)

const parseTimestamp: (text: string) => Date = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)

/** In UTC, which most sessions of Postgres are in, it is nearly ISO 8601, which is read faster. */
function readTimestamp(text: string): Date {
  if (text[10] !== ' ' || !text.endsWith('+00')) return parseTimestamp(text)
  return new Date(`${text.slice(0, 10)}T${text.slice(11)}:00`)
}

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

export default definePlugin({
  name: 'pool',
  needs: ['config', 'log', 'telemetry', 'addHook'],
  create(house) {
    const { config, log, telemetry } = house
    const pool = createPool({
      connectionString: config.DATABASE_URL,
      max: config.AUTH_DB_MAX_POOL_SIZE,
      log,
    })
    telemetry.metrics.gauge('postern.db_pool.connections', () => [
      { value: pool.totalCount - pool.idleCount, labels: { state: 'used' } },
      { value: pool.idleCount, labels: { state: 'idle' } },
    ])
    telemetry.metrics.gauge('postern.db_pool.waiting', () => [
      { value: pool.waitingCount, labels: {} },
    ])
    house.addHook('onClose', () => pool.end())
    return pool
  },
})
