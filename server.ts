/** The process: read the environment, bring the database up to date, listen, stop on signals. */
import cluster from 'node:cluster'

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

import { buildApp } from './app.ts'
import { runMigrations } from './cli/migrate.ts'
import { warnOfClock } from './cli/serve/clock.ts'
import { warnOfConnections } from './cli/serve/connections.ts'
import { untilStop } from './cli/serve/until-stop.ts'
import { waitForDatabase } from './cli/serve/wait-for-database.ts'
import { startWorkers, workerVariable } from './cli/serve/workers.ts'
import type { Config } from './plugins/config/config.ts'
import { withDotEnv } from './plugins/config/dot-env.ts'
import { readConfig } from './plugins/config/read-config.ts'
import { createLogger, type Logger } from './plugins/logger.ts'

export const usage = 'npm start, configured by the environment and .env (docs/configuration.md)'

/** As long as a mail server may take to accept what is being sent to it. */
const longestCloseMs = 60_000

/** `npm start`. Throws ConfigError, before anything is opened, for a configuration with mistakes. */
export async function run(): Promise<void> {
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
  if (worker !== undefined) return serve(withOwnMetricsPort(config, Number(worker)), logger)
  for (const notice of notices) logger.log.warn(notice)
  return config.AUTH_WORKERS > 1 ? serveWithWorkers(config, logger) : serve(config, logger)
}

/** The telemetry SDK reads its variables itself, and knows nothing of an .env file. */
function handOverTelemetryVariables(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith('OTEL_')) process.env[name] ??= value
  }
}

/** Each worker has counters of its own, so each is scraped by itself. */
function withOwnMetricsPort(config: Config, worker: number): Config {
  const { OTEL_EXPORTER_PROMETHEUS_PORT: port } = config
  return { ...config, OTEL_EXPORTER_PROMETHEUS_PORT: port + worker }
}

async function serve(config: Config, { log, reopen, end }: Logger): Promise<void> {
  // From the first moment on: the default of this signal is the end of the process.
  process.on('SIGHUP', reopen)
  const stop = untilStop(log)
  const app = await startServer(config, log)
  stop.started()
  process.on(
    'SIGHUP',
    () => void Promise.all([app.languages.reload(), app.mailer.reloadTemplates()]),
  )
  const signal = await stop.signal
  log.info(`${signal}: finishing what runs`)
  // Ctrl-C is for somebody who waits.
  const delay = signal === 'SIGTERM' ? config.AUTH_SHUTDOWN_DELAY : 0
  setTimeout(() => process.exit(1), delay * 1000 + longestCloseMs).unref()
  await app.readiness.leave(delay)
  await app.close()
  await end()
  process.exit(0)
}

async function serveWithWorkers(config: Config, { log, reopen, end }: Logger): Promise<void> {
  const stop = untilStop(log)
  await prepareDatabase(config, log)
  if (!config.AUTH_REDIS_URL) {
    log.warn('AUTH_WORKERS without AUTH_REDIS_URL: each worker counts rate limits alone.')
  }
  const workers = await startWorkers(config.AUTH_WORKERS, log)
  stop.started()
  process.on('SIGHUP', () => {
    reopen()
    workers.signal('SIGHUP')
  })
  await workers.stop(await stop.signal)
  await end()
  process.exit(0)
}

/** Migrates, builds and listens. The address is in the log. Throws, with one sentence, what is in the way. */
export async function startServer(
  config: Config,
  log: FastifyBaseLogger,
): Promise<FastifyInstance> {
  await prepareDatabase(config, log)
  const app = await buildApp({ config, log })
  const address = { host: config.AUTH_API_HOST ?? '0.0.0.0', port: config.PORT }
  try {
    await app.listen(address)
  } catch (error) {
    await app.close()
    throw toListenError(error, address)
  }
  return app
}

async function prepareDatabase(config: Config, log: FastifyBaseLogger): Promise<void> {
  const { DATABASE_URL: connectionString, AUTH_DB_NAMESPACE: schema } = config
  await waitForDatabase(connectionString, log)
  // For all workers together.
  if (cluster.isPrimary) {
    await warnOfConnections(config, log)
    await warnOfClock(config, log)
  }
  await runMigrations({ connectionString, schema, log })
}

function toListenError(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    const remedy = `stop it, or choose another port, as in PORT=${port + 1}`
    return new Error(`Port ${port} on ${host} is in use by another program: ${remedy}.`)
  }
  if (code === 'EACCES') {
    return new Error(`Port ${port} on ${host} is not for this user: choose a PORT above 1023.`)
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new Error(`${host} is no address of this machine: set AUTH_API_HOST to one that is.`)
  }
  return error
}
