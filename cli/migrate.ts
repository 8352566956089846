/** `npm run migrate`: brings the database up to this program's schema, and the job queue with it. */
import { Logger, runMigrations as runQueueMigrations } from 'graphile-worker'
import pg from 'pg'
import { pino } from 'pino'

import { migrate } from '../db/migrate.ts'
import { withDotEnv } from '../plugins/config/dot-env.ts'
import { readConfig } from '../plugins/config/read-config.ts'
import { createPino } from '../plugins/logger.ts'

interface Log {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
}

export interface RunMigrationsOptions {
  connectionString: string
  /** AUTH_DB_NAMESPACE; the job queue lives beside it in `<schema>_jobs`. */
  schema: string
  log: Log
}

/** The command. Throws ConfigError, SchemaTooNewError or what the database says. */
export async function run(): Promise<void> {
  const notices: string[] = []
  const env = withDotEnv(process.env)
  const config = readConfig(env, { dev: false, warn: (notice) => notices.push(notice) })
  const log = createPino(config.LOG_LEVEL, pino.destination(process.stdout.fd))
  for (const notice of notices) log.warn(notice)
  await runMigrations({
    connectionString: config.DATABASE_URL,
    schema: config.AUTH_DB_NAMESPACE,
    log,
  })
  log.info(`The schema ${config.AUTH_DB_NAMESPACE} is up to date`)
}

/** Opens two connections of its own and closes them. Throws SchemaTooNewError (db/migrate.ts). */
export async function runMigrations({ connectionString, schema, log }: RunMigrationsOptions) {
  // Two: one holds the lock while the queue's migrations run on the other.
  const pool = new pg.Pool({ connectionString, max: 2 })
  const queueSchema = `${schema}_jobs`
  pool.on('error', (error) => log.warn(`A database connection was lost: ${error.message}`))
  pool.on('connect', (client) => client.on('notice', (notice) => report(notice, log)))
  try {
    await migrate(pool, {
      schema,
      log,
      queueSchema,
      migrateQueue: () =>
        runQueueMigrations({ pgPool: pool, schema: queueSchema, logger: queueLogger(log) }),
    })
  } finally {
    await pool.end()
  }
}

/** Warnings are for the operator (a role we may not create); notices only say that something was there. */
function report(notice: { severity?: string | undefined; message?: string | undefined }, log: Log) {
  if (notice.severity === 'WARNING' && notice.message) log.warn(notice.message)
}

function queueLogger(log: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn(message)
    else log.debug(message)
  })
}
