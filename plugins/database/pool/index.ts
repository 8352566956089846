/** The connection pool, and the conversion of Postgres values. */
import type { FastifyBaseLogger } from 'fastify'
import pg from 'pg'

import { endlessTimestamp } from '../../../schemas/values/timestamp.ts'
import { definePlugin } from '../../define-plugin.ts'
import { DatabaseClient } from './database-client.ts'
import { endDeadConnections } from './dead-connections.ts'
import { getBackendId } from './pooler.ts'

declare module 'fastify' {
  interface FastifyInstance {
    pool: pg.Pool
  }
}

declare module 'pg' {
  interface Client {
    /** The startup parameters of a connection. */
    getStartupConf(): Record<string, string>
  }
}

// sessions.refreshed_at has no time zone and is UTC: dates are written and read as UTC.
pg.defaults.parseInputDatesAsUTC = true
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.TIMESTAMP, (text) => readTimestamp(text, '+00'))
types.setTypeParser(pg.types.builtins.INT8, Number)
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => readTimestamp(text))

const parseTimestamp: (text: string) => Date = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)

/**
 * Serialized exactly as it was read: a Date has milliseconds only, and formatting it is slower than keeping the text.
 */
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

/** In UTC, the usual session time zone, the text is nearly ISO 8601; rows of this server have milliseconds. */
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

/** With at least milliseconds. */
function isoTime(date: string, time: string, fraction: string): string {
  return `${date}T${time}.${fraction.padEnd(3, '0')}Z`
}

/**
 * Forces ISO dates, whatever DateStyle the database or the role sets. Poolers track this parameter, as other drivers
 * set it too.
 */
class IsoClient extends DatabaseClient {
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), DateStyle: 'ISO' }
  }
}

/**
 * Statements that waited for a row lock must see what the other transaction committed. In a stricter isolation level,
 * which may be the default of a database or role, they would fail or see older rows. Behind a pooler the session must
 * not be configured.
 */
async function readCommitted(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select set_config('default_transaction_isolation', 'read committed', false)
     where pg_backend_pid() = $1`,
    [getBackendId(client)],
  )
}

interface PoolOptions {
  connectionString: string
  /** 0 means 100 connections. */
  max: number
  /** Seconds after which a connection is replaced; never when 0 or absent. */
  maxLifetime?: number
  /** Idle seconds after which a connection is closed; never when 0. */
  maxIdleTime?: number
  /** Milliseconds to wait for a connection. */
  connectTimeoutMs?: number
  log: Pick<FastifyBaseLogger, 'warn'>
}

export function createPool(options: PoolOptions): pg.Pool {
  const { connectionString, max, maxLifetime = 0, maxIdleTime = 60, log } = options
  const { connectTimeoutMs = 5_000 } = options
  const pool = new pg.Pool({
    connectionString,
    max: max === 0 ? 100 : max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: maxIdleTime * 1000,
    // pg-pool counts whole seconds, so a shorter lifetime becomes one second.
    maxLifetimeSeconds: Math.ceil(maxLifetime),
    keepAlive: true,
    // The system default sends the first keepalive probe after two hours.
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'postern',
    types,
    Client: IsoClient,
    onConnect: readCommitted,
  })
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'idle database connection lost'))
  // The same for a connection in use, whose loss the running statement reports.
  pool.on('connect', (client) => client.on('error', () => {}))
  closeReadOnlyConnections(pool)
  return pool
}

/** SQLSTATE read_only_sql_transaction. */
const readOnlyTransaction = '25006'
/** Younger connections are kept, so that a read-only database does not cause constant reconnects. */
const minAgeMs = 2_000

/** Closes connections to a read-only server, such as a demoted primary, because new ones may reach the primary. */
export function closeReadOnlyConnections(pool: pg.Pool): void {
  const unusable = new WeakSet<pg.PoolClient>()
  pool.on('connect', (client) => {
    const openedAt = performance.now()
    client.connection.on('errorMessage', ({ code }: pg.DatabaseError) => {
      if (code === readOnlyTransaction && performance.now() - openedAt > minAgeMs) {
        unusable.add(client)
      }
    })
  })
  // Runs before the pool takes the client back; the pool discards a client that is ending.
  pool.on('release', (_error, client) => {
    if (unusable.has(client)) void client.end()
  })
}

export default definePlugin({
  name: 'pool',
  deps: ['config', 'log', 'telemetry', 'addHook'],
  create(deps) {
    const { config, log, telemetry } = deps
    const pool = createPool({
      connectionString: config.DATABASE_URL,
      max: config.AUTH_DB_MAX_POOL_SIZE,
      maxLifetime: config.AUTH_DB_CONN_MAX_LIFETIME,
      maxIdleTime: config.AUTH_DB_CONN_MAX_IDLE_TIME,
      log,
    })
    telemetry.metrics.gauge('db.client.connection.count', () => [
      { value: pool.totalCount - pool.idleCount, labels: { 'db.client.connection.state': 'used' } },
      { value: pool.idleCount, labels: { 'db.client.connection.state': 'idle' } },
    ])
    telemetry.metrics.gauge('db.client.connection.pending_requests', () => [
      { value: pool.waitingCount, labels: {} },
    ])
    endDeadConnections(pool)
    deps.addHook('onClose', () => pool.end())
    return pool
  },
})
