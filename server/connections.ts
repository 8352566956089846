/** Compares the connections of all servers with the limit of Postgres, before they run out under load. */
import type { FastifyBaseLogger } from 'fastify'

import { hookNames } from '../config/groups/hooks.ts'
import type { Config } from '../config/groups/index.ts'
import { functionPoolSize } from '../plugins/outgoing/hooks/postgres.ts'
import { withClient } from './with-client.ts'

/**
 * Two for the job queue and one that listens for new keys. With the console, one that listens for settings; with read
 * replicas, one that measures their lag.
 */
const outsidePools = ({ AUTH_CONSOLE_ENABLED, AUTH_DB_READ_URL }: Config): number =>
  3 + (AUTH_CONSOLE_ENABLED ? 1 : 0) + (AUTH_DB_READ_URL.length > 0 ? 1 : 0)

/** SQL for the number of connections that this login may have, together with all others of its database. */
export const connectionLimitOfLogin = `least(
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0),
  (select least(nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) from pg_roles, pg_database
    where rolname = session_user and datname = current_database() and not rolsuper))`

interface ConnectionLimit {
  room: number
  /** Other servers of ours; each has one listening connection. */
  others: number
}

const maxUnlimited = 100
/** The minimum for a server that reports a lack of connections. */
const minUnlimited = 5

/**
 * AUTH_DB_MAX_POOL_SIZE, or for 0 the number of connections of this login, divided among the workers: a larger pool
 * would be denied connections under load (docs/decisions/2026-11-25-start-by-the-specification.md).
 */
export function poolSizeFor(config: Config, room: number): number {
  if (config.AUTH_DB_MAX_POOL_SIZE > 0) return config.AUTH_DB_MAX_POOL_SIZE
  const ofProcess = Math.floor(room / config.AUTH_WORKERS) - outsidePools(config)
  const ofRequests = hasFunctionHook(config) ? Math.floor((ofProcess * 2) / 3) : ofProcess
  return Math.min(maxUnlimited, Math.max(minUnlimited, ofRequests))
}

/** The maximum number of connections of one process. */
export function maxConnections(config: Config, room: number): number {
  const ofRequests = poolSizeFor(config, room)
  const ofFunctions = hasFunctionHook(config) ? functionPoolSize(ofRequests) : 0
  return ofRequests + ofFunctions + outsidePools(config)
}

function hasFunctionHook(config: Config): boolean {
  return hookNames.some((name) => {
    const uri = config[`AUTH_HOOK_${name}_URI`] ?? ''
    return config[`AUTH_HOOK_${name}_ENABLED`] && URL.parse(uri)?.protocol === 'pg-functions:'
  })
}

/** Logs a warning when this server and the running ones may exceed the connections of Postgres. */
export function warnOfConnections(
  config: Config,
  { room, others }: ConnectionLimit,
  log: Pick<FastifyBaseLogger, 'warn'>,
): void {
  const needed = maxConnections(config, room) * (config.AUTH_WORKERS + others)
  if (needed <= room) return
  log.warn(
    `${describeServers(others)} may open ${needed} connections, but Postgres allows ${room} (max_connections without those reserved for superusers, or the connection limit of the login or the database): lower AUTH_DB_MAX_POOL_SIZE, raise that limit, or use a connection pooler.`,
  )
}

function describeServers(others: number): string {
  if (others === 0) return 'This server'
  return others === 1 ? 'This server and another one' : `This server and ${others} others`
}

/** Returns the connections that Postgres has for this login. */
export async function findConnectionLimit(connectionString: string): Promise<ConnectionLimit> {
  return withClient({ connectionString }, async (client) => {
    const { rows } = await client.query<ConnectionLimit>(`
      select ${connectionLimitOfLogin} as room,
        (select count(*)::int from pg_stat_activity where datname = current_database()
          and application_name = 'postern' and query ilike 'listen %') as others`)
    const [room] = rows
    if (!room) throw new Error('Postgres does not report its connection limit')
    return room
  })
}
