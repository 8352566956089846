/** Several servers as in production: HAProxy in front of them, and PgBouncer between them and Postgres if wanted. */
import { startHaproxy, startPgbouncer } from '../../test/services/programs.ts'
import { newerPgbouncer } from '../../test/support/cluster/newer-pgbouncer.ts'
import { findListener } from '../core/listener.ts'
import type { RunningServer } from './child.ts'

/** Connections of all replicas together. */
const pool = 20

interface ReplicasOptions {
  databaseUrl: string
  count: number
  /** With prepared statements where that PgBouncer is at hand or can be built; 1.18 of Debian 12 has none. */
  pooled: boolean
  serve: (name: string, env: Record<string, string>) => Promise<RunningServer>
}

/** The cost includes all servers and both programs. Throws when one of these is not installed. */
export async function startReplicas(
  started: AsyncDisposableStack,
  { databaseUrl, count, pooled, serve }: ReplicasOptions,
): Promise<{ name: string; url: string; serverPids: number[] }> {
  const ending = { after: (stop: () => Promise<void>) => started.defer(stop) }
  const program = pooled ? newerPgbouncer().path : undefined
  const pooler = pooled ? await startPgbouncer(ending, databaseUrl, program) : undefined
  const servers: RunningServer[] = []
  for (let i = 0; i < count; i++) {
    const env = {
      ...(pooler && { DATABASE_URL: pooler.url }),
      // Tokens of one are valid on all of them.
      AUTH_API_EXTERNAL_URL: 'http://127.0.0.1',
      AUTH_DB_PREPARED_STATEMENTS: String(!pooled || program !== undefined),
      AUTH_DB_MAX_POOL_SIZE: String(Math.ceil(pool / count)),
    }
    servers.push(await serve(`replica-${count}-${i}${pooled ? '-pooled' : ''}`, env))
  }
  const ports = servers.map(({ url }) => Number(new URL(url).port))
  const balancer = await startHaproxy(ending, ports)
  const urls = [balancer.url, ...(pooler ? [pooler.url] : [])]
  const programs = urls.map(findListener).filter((pid) => pid !== undefined)
  const name = count === 1 ? '1 replica' : `${count} replicas`
  return {
    name: pooled ? `${name}, PgBouncer` : name,
    url: balancer.url,
    serverPids: [...servers.map(({ pid }) => pid), ...programs],
  }
}
