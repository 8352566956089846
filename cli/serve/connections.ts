/** Whether Postgres has as many connections as its servers may open: the one that finds none left fails at night. */
import type { FastifyBaseLogger } from 'fastify'

import type { Config } from '../../plugins/config/config.ts'
import { hookNames } from '../../plugins/config/groups/hooks.ts'
import { functionPoolSize } from '../../plugins/hooks/postgres.ts'
import { withClient } from '../with-client.ts'

/** Two for the job queue, one that listens for new keys. */
const besidePools = 3

/** SQL for how many connections this login may have at a time, together with all others of its database. */
export const roomForLogin = `least(
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0),
  (select least(nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) from pg_roles, pg_database
    where rolname = session_user and datname = current_database() and not rolsuper))`

interface Room {
  room: number
  /** Servers of ours that are there already; each has one connection that listens. */
  others: number
}

/** How many connections one process opens at most. */
export function mostConnections(config: Config): number {
  const ofRequests = config.AUTH_DB_MAX_POOL_SIZE || 100
  const ofFunctions = hasFunctionHook(config) ? functionPoolSize(ofRequests) : 0
  return ofRequests + ofFunctions + besidePools
}

function hasFunctionHook(config: Config): boolean {
  return hookNames.some((name) => {
    const uri = config[`AUTH_HOOK_${name}_URI`] ?? ''
    return config[`AUTH_HOOK_${name}_ENABLED`] && URL.parse(uri)?.protocol === 'pg-functions:'
  })
}

/** Warns when this server and those that run already may open more connections together than there are. */
export async function warnOfConnections(
  config: Config,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const { room, others } = await askForRoom(config.DATABASE_URL)
  const wanted = mostConnections(config) * (config.AUTH_WORKERS + others)
  if (wanted <= room) return
  const whose = others === 0 ? 'This server' : `This server and ${others} that run already`
  log.warn(
    `${whose} may open ${wanted} connections, and Postgres has ${room} (max_connections less those for superusers, or the connection limit of the login or the database): lower AUTH_DB_MAX_POOL_SIZE, raise that limit, or put a pooler between.`,
  )
}

async function askForRoom(connectionString: string): Promise<Room> {
  return withClient({ connectionString }, async (client) => {
    const { rows } = await client.query<Room>(`
      select ${roomForLogin} as room,
        (select count(*)::int from pg_stat_activity where datname = current_database()
          and application_name = 'postern' and query ilike 'listen %') as others`)
    const [room] = rows
    if (!room) throw new Error('Postgres does not say how many connections it takes')
    return room
  })
}
