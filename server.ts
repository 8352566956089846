/** The server process: reads the environment, migrates the database, listens, and stops on signals. */
import cluster from 'node:cluster'

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

import { withDotEnv } from './config/dot-env.ts'
import type { Config } from './config/groups/index.ts'
import { readConfig } from './config/read-config.ts'
import type { Examine } from './plugins/config.ts'
import { createLogger, type Logger } from './plugins/observability/logger/index.ts'
import { buildApp } from './server/app.ts'
import { warnOfClock } from './server/clock.ts'
import { findConnectionLimit, poolSizeFor, warnOfConnections } from './server/connections.ts'
import { firstAdminLink } from './server/first-admin-link.ts'
import { runMigrations } from './server/migrate.ts'
import { checkStoredKey } from './server/stored-key.ts'
import { untilStop } from './server/until-stop.ts'
import { waitForDatabase } from './server/wait-for-database.ts'
import { startWorkers, workerVariable } from './server/workers.ts'

export const usage = 'npm start, configured by the environment and .env (docs/configuration.md)'

/** As long as a mail server may take to accept an email. In milliseconds. */
const maxCloseMs = 60_000

/** Runs `npm start`. Throws ConfigError before anything is opened. */
export async function run(_args: readonly string[] = [], examine?: Examine): Promise<void> {
  const notices: string[] = []
  const env = withDotEnv(process.env)
  const config = readConfig(env, { dev: false, warn: (notice) => notices.push(notice) })
  handOverTelemetryVariables(env)
  const logger = createLogger({
    level: config.LOG_LEVEL,
    file: config.AUTH_LOG_FILE,
    isShared: config.AUTH_WORKERS > 1,
  })
  const worker = process.env[workerVariable]
  if (worker !== undefined) {
    return serve(withOwnMetricsPort(config, Number(worker)), logger, examine)
  }
  for (const notice of notices) logger.log.warn(notice)
  return config.AUTH_WORKERS > 1 ? serveWithWorkers(config, logger) : serve(config, logger, examine)
}

/**
 * The telemetry SDK reads its variables from the environment and not from .env. Its default passes the baggage of a
 * client on to every other server.
 */
function handOverTelemetryVariables(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith('OTEL_')) process.env[name] ??= value
  }
  process.env.OTEL_PROPAGATORS ??= 'tracecontext'
}

/** Each worker has its own counters and is scraped separately. */
function withOwnMetricsPort(config: Config, worker: number): Config {
  const { OTEL_EXPORTER_PROMETHEUS_PORT: port } = config
  return { ...config, OTEL_EXPORTER_PROMETHEUS_PORT: port + worker }
}

async function serve(
  config: Config,
  { log, reopen, end }: Logger,
  examine: Examine | undefined,
): Promise<void> {
  // Registered first: by default this signal ends the process.
  process.on('SIGHUP', reopen)
  const stop = untilStop(log)
  const app = await startServer(config, log, examine)
  if (cluster.isPrimary) await logFirstAdminLink(config, log)
  stop.started()
  process.on(
    'SIGHUP',
    () => void Promise.all([app.languages.reload(), app.mailer.reloadTemplates()]),
  )
  const signal = await stop.signal
  log.info(`${signal}: finishing running work`)
  // Ctrl-C needs no delay for load balancers.
  const delay = signal === 'SIGTERM' ? config.AUTH_SHUTDOWN_DELAY : 0
  setTimeout(() => process.exit(1), delay * 1000 + maxCloseMs).unref()
  await app.readiness.leave(delay)
  await app.close()
  await end()
  process.exit(0)
}

async function serveWithWorkers(config: Config, { log, reopen, end }: Logger): Promise<void> {
  const stop = untilStop(log)
  await prepareDatabase(config, log)
  if (!config.AUTH_REDIS_URL) {
    log.warn('AUTH_WORKERS without AUTH_REDIS_URL: each worker counts rate limits separately.')
  }
  const workers = await startWorkers(config.AUTH_WORKERS, log)
  await logFirstAdminLink(config, log)
  stop.started()
  process.on('SIGHUP', () => {
    reopen()
    workers.signal('SIGHUP')
  })
  await workers.stop(await stop.signal)
  await end()
  process.exit(0)
}

async function logFirstAdminLink(config: Config, log: FastifyBaseLogger): Promise<void> {
  const link = await firstAdminLink(config)
  if (!link) return
  log.warn(
    `There is no admin yet. Create the first one with this link, valid once and for 24 hours: ${link} (or run npm run admin -- create ADDRESS)`,
  )
}

/** Migrates, builds and listens; the address is logged. Throws an Error when it cannot start. */
export async function startServer(
  config: Config,
  log: FastifyBaseLogger,
  examine?: Examine,
): Promise<FastifyInstance> {
  const room = await prepareDatabase(config, log)
  const sized = { ...config, AUTH_DB_MAX_POOL_SIZE: poolSizeFor(config, room) }
  const app = await buildApp({ config: sized, log, ...(examine && { examine }) })
  const { AUTH_API_HOST: host = '::', PORT: port } = config
  try {
    await listen(app, { host, port })
  } catch (error) {
    await app.close()
    throw toListenError(error, { host, port })
  }
  return app
}

interface Address {
  host: string
  port: number
}

/** `::` includes IPv4; a machine without IPv6 has only IPv4. */
async function listen(app: FastifyInstance, { host, port }: Address): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    if (host !== '::' || !hasCode(error, 'EAFNOSUPPORT', 'EADDRNOTAVAIL')) throw error
    await app.listen({ host: '0.0.0.0', port })
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

/** Returns the number of connections that this login may open. */
async function prepareDatabase(config: Config, log: FastifyBaseLogger): Promise<number> {
  const { DATABASE_URL: connectionString, AUTH_DB_NAMESPACE: schema } = config
  await waitForDatabase(connectionString, log)
  const found = await findConnectionLimit(connectionString)
  // Once for all workers.
  if (cluster.isPrimary) {
    warnOfConnections(config, found, log)
    await warnOfClock(config, log)
  }
  // Before the migrations: a wrong key must not leave a migrated database behind.
  await checkStoredKey(config)
  const indexesUserNames = config.AUTH_DB_INDEX_USER_NAMES
  await runMigrations({ connectionString, schema, indexesUserNames, log })
  return found.room
}

function toListenError(error: unknown, { host, port }: Address): unknown {
  if (hasCode(error, 'EADDRINUSE')) {
    const hint = `stop it, or choose another port, as in PORT=${port + 1}`
    return new Error(`Port ${port} on ${host} is in use by another program: ${hint}.`)
  }
  if (hasCode(error, 'EACCES')) {
    return new Error(`Port ${port} on ${host} requires root privileges: choose a PORT above 1023.`)
  }
  if (hasCode(error, 'EADDRNOTAVAIL', 'ENOTFOUND')) {
    return new Error(`${host} is not an address of this machine: set AUTH_API_HOST to one that is.`)
  }
  return error
}

// This file is imported by cli.ts, which also handles errors.
if (import.meta.main) {
  console.error('Start the server with npm start, or node cli.ts serve.')
  process.exitCode = 1
}
