/** The connection pool, and how values of Postgres are read and written. */
import type { FastifyBaseLogger } from 'fastify'
import pg from 'pg'

import { endlessTimestamp } from '../schemas/timestamp.ts'
import { definePlugin } from './define-plugin.ts'
import { endDeadConnections } from './pool/dead-connections.ts'
import { backendOf } from './pool/pooler.ts'

declare module 'fastify' {
  interface FastifyInstance {
    pool: pg.Pool
  }
}

declare module 'pg' {
  interface Client {
    /** What a connection asks for when it is made. */
    getStartupConf(): Record<string, string>
  }
}

// sessions.refreshed_at has no time zone and is UTC: dates must go in as UTC and come out as UTC.
pg.defaults.parseInputDatesAsUTC = true
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.TIMESTAMP, (text) => readTimestamp(text, '+00'))
types.setTypeParser(pg.types.builtins.INT8, Number)
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => readTimestamp(text))

const parseTimestamp: (text: string) => Date = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)

/** Printed as it was read: a Date ends at milliseconds, and takes longer to print than a text to keep. */
class StoredDate extends Date {
  readonly #iso: string

  constructor(iso: string) {
    super(iso)
    this.#iso = iso
  }

  override toISOString(): string {
    return this.#iso
  }
}

/** In UTC, which most sessions of Postgres are in, the text is nearly ISO 8601; rows of this server end at milliseconds. */
function readTimestamp(stored: string, zone = ''): Date {
  const text = stored + zone
  const isUtc = text[10] === ' ' && text.endsWith('+00')
  if (isUtc) {
    return new StoredDate(isoTime(text.slice(0, 10), text.slice(11, 19), text.slice(20, -3)))
  }
  const end = endlessTimestamp(stored)
  if (end !== undefined) return new Date(end)
  const moment = parseTimestamp(text)
  const fraction = /\.(\d{4,})/.exec(text)?.[1]
  if (fraction === undefined) return moment
  const [date = '', time = ''] = moment.toISOString().split('T')
  return new StoredDate(isoTime(date, time.slice(0, 8), fraction))
}

/** With milliseconds at least. */
function isoTime(date: string, time: string, fraction: string): string {
  return `${date}T${time}.${fraction.padEnd(3, '0')}Z`
}

/** Times are read in this form alone, whatever is set for the database or the login. Poolers know it, as of other drivers. */
class IsoClient extends pg.Client {
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), DateStyle: 'ISO' }
  }
}

/**
 * Whoever has waited for a row goes by what the other one left of it, and of all rows beside it: in a stricter isolation,
 * which may be set for the database or the login, the statement fails, or sees what was there before. Behind a pooler
 * the connection is not ours to set.
 */
async function readCommitted(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select set_config('default_transaction_isolation', 'read committed', false)
     where pg_backend_pid() = $1`,
    [backendOf(client)],
  )
}

export interface PoolOptions {
  connectionString: string
  /** 0 means 100 connections. */
  max: number
  /** Seconds after which a connection is replaced; 0 or absent, it never is. */
  maxLifetime?: number
  /** Seconds without use after which a connection is closed; with 0 it never is. */
  maxIdleTime?: number
  log: Pick<FastifyBaseLogger, 'warn'>
}

export function createPool(options: PoolOptions): pg.Pool {
  const { connectionString, max, maxLifetime = 0, maxIdleTime = 60, log } = options
  const pool = new pg.Pool({
    connectionString,
    max: max === 0 ? 100 : max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: maxIdleTime * 1000,
    // pg-pool sets a timer for whole seconds, so a shorter life is one of a second.
    maxLifetimeSeconds: Math.ceil(maxLifetime),
    keepAlive: true,
    // Of the system's own, the first question whether the other side is there comes after two hours.
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'postern',
    types,
    Client: IsoClient,
    onConnect: readCommitted,
  })
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))
  // The same for one in use, whose loss the statement under way reports.
  pool.on('connect', (client) => client.on('error', () => {}))
  leaveReplicas(pool)
  return pool
}

/** SQLSTATE read_only_sql_transaction. */
const takesNoWrites = '25006'
/** Younger connections are kept, so that a database that takes no writes for a while is not connected to all the time. */
const leastAgeMs = 2_000

/** Closes connections to a server that takes no writes, such as a primary of before, as new ones may lead to the one that does. */
export function leaveReplicas(pool: pg.Pool): void {
  const useless = new WeakSet<pg.PoolClient>()
  pool.on('connect', (client) => {
    const openedAt = performance.now()
    client.connection.on('errorMessage', ({ code }: pg.DatabaseError) => {
      if (code === takesNoWrites && performance.now() - openedAt > leastAgeMs) useless.add(client)
    })
  })
  // Told before the pool takes it back, which it does with none that is ending.
  pool.on('release', (_error, client) => {
    if (useless.has(client)) void client.end()
  })
}

export default definePlugin({
  name: 'pool',
  needs: ['config', 'log', 'telemetry', 'addHook'],
  create(house) {
    const { config, log, telemetry } = house
    const pool = createPool({
      connectionString: config.DATABASE_URL,
      max: config.AUTH_DB_MAX_POOL_SIZE,
      maxLifetime: config.AUTH_DB_CONN_MAX_LIFETIME,
      maxIdleTime: config.AUTH_DB_CONN_MAX_IDLE_TIME,
      log,
    })
    telemetry.metrics.gauge('postern.db_pool.connections', () => [
      { value: pool.totalCount - pool.idleCount, labels: { state: 'used' } },
      { value: pool.idleCount, labels: { state: 'idle' } },
    ])
    telemetry.metrics.gauge('postern.db_pool.waiting', () => [
      { value: pool.waitingCount, labels: {} },
    ])
    endDeadConnections(pool)
    house.addHook('onClose', () => pool.end())
    return pool
  },
})
