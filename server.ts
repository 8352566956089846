/** The process: read the environment, bring the database up to date, listen, stop on signals. */
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import pg from 'pg'

import { buildApp } from './app.ts'
import { runMigrations } from './cli/migrate.ts'
import { createLogger } from './plugins/logger.ts'
import type { Config } from './schemas/config/config.ts'
import { withDotEnv } from './schemas/config/dot-env.ts'
import { readConfig } from './schemas/config/read-config.ts'

const databaseWaitSeconds = 30

/** `npm start`. Throws ConfigError, before anything is opened, for a configuration with mistakes. */
export async function run(): Promise<void> {
  const notices: string[] = []
  const env = withDotEnv(process.env)
  const config = readConfig(env, { dev: false, warn: (notice) => notices.push(notice) })
  const { log, reopen } = createLogger({ level: config.LOG_LEVEL, file: config.AUTH_LOG_FILE })
  process.on('SIGHUP', reopen)
  for (const notice of notices) log.warn(notice)
  const app = await startServer(config, log)
  stopOnSignals(app)
}

/** Migrates, builds and listens. The address is in the log. */
export async function startServer(
  config: Config,
  log: FastifyBaseLogger,
): Promise<FastifyInstance> {
  await waitForDatabase(config.DATABASE_URL, log)
  const { DATABASE_URL: connectionString, AUTH_DB_NAMESPACE: schema } = config
  await runMigrations({ connectionString, schema, log })
  const app = await buildApp({ config, log })
  await app.listen({ host: config.AUTH_API_HOST ?? '0.0.0.0', port: config.PORT })
  return app
}

/** Throws when the database has not come up after half a minute; a wrong password is told at once. */
async function waitForDatabase(connectionString: string, log: FastifyBaseLogger): Promise<void> {
  const deadline = Date.now() + databaseWaitSeconds * 1000
  for (;;) {
    try {
      return await connectOnce(connectionString)
    } catch (error) {
      const isWorthWaiting = !isRefusal(error) && Date.now() < deadline
      if (!isWorthWaiting) throw unreachable(error)
      log.warn('the database does not answer yet; waiting')
      await pause(500)
    }
  }
}

async function connectOnce(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  await client.connect()
  await client.end()
}

/** Wrong password, missing role, missing database: waiting does not help (SQLSTATE 28, 3D). */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '')
}

function unreachable(error: unknown): Error {
  const reason = error instanceof Error ? error.message || error.name : String(error)
  return new Error(
    `The database of DATABASE_URL cannot be used: ${reason}. Check that it runs and that host, user, password and database name are right.`,
  )
}

/** The first signal lets what runs finish; the second does not wait. */
export function stopOnSignals(app: FastifyInstance, stopped: () => Promise<void> = async () => {}) {
  let isStopping = false
  const stop = async (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(1)
    isStopping = true
    app.log.info(`${signal}: finishing what runs`)
    setTimeout(() => process.exit(1), 60_000).unref()
    await app.close()
    await stopped()
    process.exit(0)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
}
