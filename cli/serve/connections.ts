/** Whether Postgres has as many connections as its servers may open: the one that finds none left fails at night. */
import type { FastifyBaseLogger } from 'fastify'
import pg from 'pg'

import type { Config } from '../../plugins/config/config.ts'

/** Beside the pool: two for the job queue, one that listens for new keys. */
const besidePool = 3

interface Room {
  /** For everybody but superusers. */
  room: number
  /** Servers of ours that are there already; each has one connection that listens. */
  others: number
}

/** Warns when this server and those that run already may open more connections together than there are. */
export async function warnOfConnections(
  config: Pick<Config, 'AUTH_DB_MAX_POOL_SIZE' | 'AUTH_WORKERS' | 'DATABASE_URL'>,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const { room, others } = await askForRoom(config.DATABASE_URL)
  const each = (config.AUTH_DB_MAX_POOL_SIZE || 100) + besidePool
  const wanted = each * (config.AUTH_WORKERS + others)
  if (wanted <= room) return
  const whose = others === 0 ? 'This server' : `This server and ${others} that run already`
  log.warn(
    `${whose} may open ${wanted} connections, and Postgres has ${room} (max_connections less those for superusers): lower AUTH_DB_MAX_POOL_SIZE, raise max_connections, or put a pooler between.`,
  )
}

async function askForRoom(connectionString: string): Promise<Room> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<Room>(`
      select current_setting('max_connections')::int
          - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0) as room,
        (select count(*)::int from pg_stat_activity where datname = current_database()
          and application_name = 'postern' and query ilike 'listen %') as others`)
    const [room] = rows
    if (!room) throw new Error('Postgres does not say how many connections it takes')
    return room
  } finally {
    await client.end()
  }
}
