import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { startPostgres } from '../cli/dev/postgres.ts'
import manifest from '../package.json' with { type: 'json' }
import { Refused } from './scenario.ts'

export interface OwnServer {
  url: string
  databaseUrl: string
  jwtSecret: string
  /** The same server on the same database once more, with traces and metrics on. */
  telemetryUrl: string | undefined
  stop(): Promise<void>
}

export interface OwnServerOptions {
  /** Start the one with telemetry as well. */
  telemetry?: boolean
}

const root = join(import.meta.dirname, '..')

/**
 * Starts an empty Postgres, something that takes mail, and this server as it runs in production:
 * one process, a pool of 20, no limit by address. Throws with the server's log when it does not come up.
 */
export async function startOwnServer(options: OwnServerOptions = {}): Promise<OwnServer> {
  const started = new AsyncDisposableStack()
  const stop = () => started.disposeAsync()
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => stop().finally(() => process.exit(1)))
  }
  try {
    return { ...(await startAll(started, options)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Own = Omit<OwnServer, 'stop' | 'telemetryUrl'>

async function startAll(
  started: AsyncDisposableStack,
  { telemetry = false }: OwnServerOptions,
): Promise<Omit<OwnServer, 'stop'>> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-bench-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  // Started by root, Postgres runs as somebody else, who must get through to the data.
  await chmod(folder, 0o711)
  const postgres = await startPostgres({ dir: join(folder, 'postgres'), log: console })
  started.defer(postgres.stop)
  const port = await freePort()
  const own = {
    url: `http://127.0.0.1:${port}`,
    databaseUrl: postgres.url,
    jwtSecret: randomBytes(32).toString('base64url'),
  }
  const env = {
    ...settings(own, port, await startSink(started, 'mail-sink.ts')),
    ...smsSettings(await startSink(started, 'sms-sink.ts')),
  }
  await startServer(started, join(folder, 'server.log'), own.url, env)
  if (!telemetry) return { ...own, telemetryUrl: undefined }

  const telemetryPort = await freePort()
  const telemetryUrl = `http://127.0.0.1:${telemetryPort}`
  const more = await telemetrySettings(await startSink(started, 'collector-sink.ts'))
  const allOn = { ...env, ...more, PORT: String(telemetryPort) }
  await startServer(started, join(folder, 'telemetry.log'), telemetryUrl, allOn)
  return { ...own, telemetryUrl }
}

async function telemetrySettings(collectorPort: number) {
  return {
    AUTH_TRACING_ENABLED: 'true',
    AUTH_METRICS_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}`,
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(await freePort()),
  }
}

function settings(own: Own, port: number, smtpPort: number) {
  return {
    AUTH_DB_DRIVER: 'postgres',
    DATABASE_URL: own.databaseUrl,
    AUTH_DB_MAX_POOL_SIZE: '20',
    AUTH_API_HOST: '127.0.0.1',
    PORT: String(port),
    AUTH_API_EXTERNAL_URL: own.url,
    AUTH_SITE_URL: 'http://127.0.0.1:3000',
    AUTH_JWT_SECRET: own.jwtSecret,
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000000000',
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_SMTP_HOST: '127.0.0.1',
    AUTH_SMTP_PORT: String(smtpPort),
    AUTH_SMTP_ADMIN_EMAIL: 'bench@example.com',
    AUTH_PASSKEY_ENABLED: 'true',
    AUTH_WEBAUTHN_RP_ID: 'localhost',
    AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'Bench',
    AUTH_WEBAUTHN_RP_ORIGINS: 'http://localhost:3000',
  }
}

function smsSettings(port: number) {
  return {
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_PROVIDER: 'twilio',
    AUTH_SMS_TWILIO_ACCOUNT_SID: 'AC1',
    AUTH_SMS_TWILIO_AUTH_TOKEN: 'bench',
    AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: 'MG1',
    AUTH_SMS_TWILIO_URL: `http://127.0.0.1:${port}`,
    AUTH_SMS_MAX_FREQUENCY: '0',
    AUTH_RATE_LIMIT_SMS_SENT: '1000000000',
  }
}

/** Starts a program that takes what the server sends; resolves to its port. */
async function startSink(started: AsyncDisposableStack, program: string): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, program)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  endWithUs(started, child)
  const [line] = await once(child.stdout, 'data')
  return Number(line)
}

/** The log goes to a file, since writing it is part of a request's cost. */
async function startServer(
  started: AsyncDisposableStack,
  logFile: string,
  url: string,
  env: Record<string, string>,
): Promise<void> {
  const log = await open(logFile, 'w')
  const child = spawn(process.execPath, [...nodeOptions(), join(root, 'cli.ts'), 'serve'], {
    // Away from an .env that would change what is measured.
    cwd: dirname(logFile),
    env,
    stdio: ['ignore', log.fd, log.fd],
  })
  endWithUs(started, child)
  await log.close()
  for (let tries = 0; tries < 300 && child.exitCode === null; tries++) {
    if (await isHealthy(url)) return
    await sleep(100)
  }
  throw new Refused(`The server did not come up:\n${await readFile(logFile, 'utf8')}`)
}

/** Those of `npm start`. */
function nodeOptions(): string[] {
  return manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'))
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok
  } catch {
    return false
  }
}

/** Also when a fault ends this process before its time. */
function endWithUs(started: AsyncDisposableStack, child: ChildProcess): void {
  const kill = () => child.kill()
  process.once('exit', kill)
  started.defer(async () => {
    process.off('exit', kill)
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    kill()
    await exit
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('No port is free')
  return address.port
}
