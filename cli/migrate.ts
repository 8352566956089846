/** `npm run migrate`: brings the database up to this program's schema, and the job queue with it. */
import { Logger, runMigrations as runQueueMigrations } from 'graphile-worker'
import pg from 'pg'

import { migrate } from '../db/migrate.ts'
import { withDotEnv } from '../plugins/config/dot-env.ts'
import { readConfig } from '../plugins/config/read-config.ts'
import { createLogger } from '../plugins/logger.ts'

export const usage = 'npm run migrate'

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
  const { log } = createLogger({ level: config.LOG_LEVEL, file: config.AUTH_LOG_FILE })
  for (const notice of notices) log.warn(notice)
  await runMigrations({
    connectionString: config.DATABASE_URL,
    schema: config.AUTH_DB_NAMESPACE,
    log,
  })
  log.info(`The schema ${config.AUTH_DB_NAMESPACE} is up to date`)
}

/** Opens up to three connections of its own and closes them. Throws SchemaTooNewError (db/migrate.ts). */
export async function runMigrations({ connectionString, schema, log }: RunMigrationsOptions) {
  // One holds the lock, one does the work, and one looks for whom that waits.
  const pool = new pg.Pool({ connectionString, max: 3 })
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
