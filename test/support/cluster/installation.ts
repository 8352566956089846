/** Two servers behind HAProxy, with Redis, and a PgBouncer that finds the primary of two Postgres servers by HAProxy. */
import {
  startHaproxy,
  startPgbouncer,
  startPrimaryBalancer,
  startRedis,
} from '../../services/programs.ts'
import { startMailServer } from '../messages/mail-server.ts'
import type { Ending } from '../processes/ending.ts'
import { freePort } from '../processes/free-port.ts'
import { startServerProcess } from '../processes/server-process.ts'
import { startLoad } from './load.ts'
import { startPostgresCluster } from './postgres-cluster.ts'
import { clusterSettings } from './settings.ts'

/** `program` is a PgBouncer with prepared statements; without it, the installed one is used without them. */
export async function startClusterInstallation(t: Ending, program: string | undefined) {
  const mail = await startMailServer(t)
  const postgres = await startPostgresCluster(t)
  const primaryPort = await startPrimaryBalancer(t, postgres.ports)
  const primaryUrl = `postgres://postgres:x@127.0.0.1:${primaryPort}/postgres`
  const pooler = await startPgbouncer(t, primaryUrl, program)
  const redis = await startRedis(t)
  const env = {
    ...mail.env,
    ...clusterSettings,
    DATABASE_URL: pooler.url,
    AUTH_DB_MAX_POOL_SIZE: '10',
    AUTH_DB_PREPARED_STATEMENTS: String(program !== undefined),
    AUTH_REDIS_URL: redis.url,
    AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: 'true',
  }
  const ports = [await freePort(), await freePort()] as const
  const start = (port: number) => startServerProcess(t, { ...env, PORT: String(port) })
  let [first] = await Promise.all(ports.map(start))
  const balancer = await startHaproxy(t, [...ports])
  const load = startLoad({ urls: [balancer.url], mail, clients: 4 })
  t.after(load.abort)
  await load.untilStarted()
  return {
    postgres,
    pooler,
    redis,
    load,

    async restartServer(): Promise<void> {
      first?.child.kill('SIGKILL')
      await first?.ended
      first = await start(ports[0])
    },
  }
}
