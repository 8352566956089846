import { Logger, runMigrations as runQueueMigrations } from 'graphile-worker'
import pg from 'pg'

import { migrate } from '../db/migrate/index.ts'
import { DatabaseClient } from '../plugins/database/pool/database-client.ts'
import { isPooled } from '../plugins/database/pool/pooler.ts'

interface RunMigrationsOptions {
  connectionString: string
  /** AUTH_DB_NAMESPACE; the job queue has the schema `<schema>_jobs`. */
  schema: string
  /** AUTH_DB_INDEX_USER_NAMES. */
  indexesUserNames?: boolean
  log: Log
}

export interface Log {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
}

/** Opens up to three separate connections and closes them. Throws SchemaTooNewError (db/migrate/index.ts). */
export async function runMigrations({
  connectionString,
  schema,
  indexesUserNames = true,
  log,
}: RunMigrationsOptions) {
  // One holds the lock, one migrates, and one looks for blocking transactions.
  const pool = new pg.Pool({ connectionString, max: 3, Client: DatabaseClient })
  const queueSchema = `${schema}_jobs`
  pool.on('error', (error) => log.warn(`A database connection was lost: ${error.message}`))
  pool.on('connect', (client) => {
    client.on('notice', (notice) => report(notice, log))
    // The next statement reports the loss. Without a listener, that of the idle connection with the lock would end the
    // process.
    client.on('error', () => {})
  })
  try {
    await nameTransactionPooler(pool, log)
    await migrate(pool, {
      schema,
      indexesUserNames,
      log,
      queueSchema,
      migrateQueue: () =>
        runQueueMigrations({ pgPool: pool, schema: queueSchema, logger: queueLogger(log) }),
    })
  } finally {
    await pool.end()
  }
}

async function nameTransactionPooler(pool: pg.Pool, log: Log): Promise<void> {
  const client = await pool.connect()
  try {
    if (!(await isPooled(client))) return
    log.info(
      'A connection pooler is in front of Postgres: in transaction mode LISTEN receives nothing, and changes of other replicas are polled.',
    )
  } finally {
    client.release()
  }
}

function queueLogger(log: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn(message)
    else log.debug(message)
  })
}

/** Warnings concern the operator (a role that cannot be created); notices report existing objects. */
function report(notice: { severity?: string | undefined; message?: string | undefined }, log: Log) {
  if (notice.severity === 'WARNING' && notice.message) log.warn(notice.message)
}
