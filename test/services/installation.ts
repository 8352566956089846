/**
 * The installation of docs/operations.md on several machines: replicas with one .env behind HAProxy, with PgBouncer,
 * Redis and two Postgres servers, each with the shipped configuration.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

import { query } from '../db/sql.ts'
import { encryptionKey } from '../support/config.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { startCli } from '../support/processes/cli-process.ts'
import type { Ending } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { startPostgresPair } from './postgres.ts'
import { createFolder, startHaproxy, startPgbouncer, startRedis } from './programs.ts'

type Replica = Awaited<ReturnType<typeof startServerProcess>>

/** No rate limits, and a lost response may be requested again. */
const unlimited = {
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1000000',
  AUTH_RATE_LIMIT_TOKEN_REFRESH: '1000000',
  AUTH_RATE_LIMIT_OTP: '1000000',
  AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
  AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED: 'true',
}

interface Plan {
  /** Number of replicas. */
  count?: number
  /** The cli.ts that they are started with at first. */
  program?: string
  env?: Record<string, string>
  /** SQL that fills the database before the first start. */
  content?: string
}

export type Installation = Awaited<ReturnType<typeof startInstallation>>

export async function startInstallation(
  t: Ending,
  { count = 3, program, env: more = {}, content }: Plan = {},
) {
  const mail = await startMailServer(t)
  const postgres = await startPostgresPair(t)
  if (content !== undefined) await query(postgres.url, content)
  const pooler = await startPgbouncer(t, postgres.url)
  const redis = await startRedis(t)
  const folder = createFolder(t)
  const file = join(folder, '.env')
  await writeEnv({
    ...mail.env,
    ...unlimited,
    AUTH_DB_DRIVER: 'postgres',
    DATABASE_URL: pooler.url,
    AUTH_DB_PREPARED_STATEMENTS: 'false',
    AUTH_DB_MAX_POOL_SIZE: '10',
    AUTH_REDIS_URL: redis.url,
    AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: 'true',
    AUTH_JWT_ALGORITHM: 'ES256',
    AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
    AUTH_ENCRYPTION_KEY: encryptionKey,
    AUTH_API_EXTERNAL_URL: 'http://auth.example',
    AUTH_SITE_URL: 'http://app.example',
    ...more,
  })

  async function env(): Promise<Record<string, string>> {
    const read = parseEnv(await readFile(file, 'utf8'))
    return Object.fromEntries(Object.entries(read).map(([name, value]) => [name, value ?? '']))
  }

  async function writeEnv(values: Record<string, string>): Promise<void> {
    const lines = Object.entries(values).map(([name, value]) => `${name}='${value}'\n`)
    await writeFile(file, lines.join(''))
  }

  const ports: number[] = []
  const replicas: Replica[] = []
  for (let i = 0; i < count; i++) ports.push(await freePort())
  // Several may start concurrently: one migrates. Earlier releases took a schema half migrated for one of GoTrue.
  if (program) for (const index of ports.keys()) await start(index, program)
  else await Promise.all(ports.map((_port, index) => start(index)))
  const balancer = await startHaproxy(t, ports)
  await until(async () => {
    const response = await fetch(`${balancer.url}/health`).catch(() => undefined)
    return response?.ok ?? false
  })

  /** With the current .env, and the cli.ts of another release if named. */
  async function start(index: number, program?: string): Promise<void> {
    const settings = { ...(await env()), PORT: String(ports[index]) }
    replicas[index] = await startServerProcess(t, settings, { program })
  }

  function replica(index: number): Replica {
    const found = replicas[index]
    if (!found) throw new Error(`there is no replica ${index}`)
    return found
  }

  /** Stops it; returns its exit code. */
  async function stop(index: number): Promise<number | null> {
    const { child, ended } = replica(index)
    child.kill('SIGTERM')
    return ended
  }

  /** A documented command with the .env of the installation. Throws with its output on failure. */
  async function command(args: string[], env: Record<string, string> = {}): Promise<string> {
    const { ended, written } = startCli(t, args, { cwd: folder, env })
    const code = await ended
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${written.err}`)
    return written.out + written.err
  }

  return {
    mail,
    postgres,
    pooler,
    redis,
    balancer,
    folder,
    env,
    writeEnv,
    start,
    stop,
    replica,
    url: balancer.url,

    /** One replica after another; the next when the last one is ready. */
    async restartAll(): Promise<void> {
      for (const index of ports.keys()) {
        const code = await stop(index)
        if (code !== 0) throw new Error(`a replica ended with ${code}`)
        await start(index)
      }
    },

    command: (...args: string[]) => command(args),
    /** Over a separate connection that bypasses the pooler. */
    backup: () => command(['backup', 'postern.dump'], { DATABASE_URL: postgres.url }),
  }
}
