/** Several servers as in production: HAProxy in front of them, PgBouncer between them and Postgres. */
import { startHaproxy, startPgbouncer } from '../../test/services/programs.ts'
import { listenerOf } from '../core/listener.ts'
import type { RunningServer } from './child.ts'

/** Connections of all replicas together. */
const pool = 20

export interface ReplicasOptions {
  databaseUrl: string
  count: number
  serve: (name: string, env: Record<string, string>) => Promise<RunningServer>
}

/** The cost includes all servers and both programs. Throws when one of these is not installed. */
export async function startReplicas(
  started: AsyncDisposableStack,
  { databaseUrl, count, serve }: ReplicasOptions,
): Promise<{ url: string; serverPids: number[] }> {
  const ending = { after: (stop: () => Promise<void>) => started.defer(stop) }
  const pooler = await startPgbouncer(ending, databaseUrl)
  const servers: RunningServer[] = []
  for (let i = 0; i < count; i++) {
    const env = {
      DATABASE_URL: pooler.url,
      // Tokens of one are valid on all of them.
      AUTH_API_EXTERNAL_URL: 'http://127.0.0.1',
      // PgBouncer 1.18, which is widely installed, does not support prepared statements.
      AUTH_DB_PREPARED_STATEMENTS: 'false',
      AUTH_DB_MAX_POOL_SIZE: String(Math.ceil(pool / count)),
    }
    servers.push(await serve(`replica-${i}`, env))
  }
  const ports = servers.map(({ url }) => Number(new URL(url).port))
  const balancer = await startHaproxy(ending, ports)
  const programs = [balancer.url, pooler.url].map(listenerOf).filter((pid) => pid !== undefined)
  return { url: balancer.url, serverPids: [...servers.map(({ pid }) => pid), ...programs] }
}
