/** The connections of the migrations, and which of their statements was refused last. */
import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPool } from 'kysely'

export interface MigrationConnections {
  db: Kysely<unknown>
  /** The statement that failed last: Postgres does not repeat its text in its error. */
  lastRefused: () => Refused
}

interface Refused {
  text: string
  /** Undefined while none has failed. */
  error: unknown
}

export function openMigrationDb(pool: PostgresPool): MigrationConnections {
  let refused: Refused = { text: '', error: undefined }
  const db = new Kysely<unknown>({
    dialect: new MigrationDialect({ pool }),
    log: (event) => {
      if (event.level === 'error' && !isAfterFailure(event.error))
        refused = { text: event.query.sql, error: event.error }
    },
  })
  return { db, lastRefused: () => refused }
}

/** SQLSTATE in_failed_sql_transaction: that of a statement before, in the same transaction, says why. */
export function isAfterFailure(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25P02'
}

/**
 * The transaction's own lock guards the migrations. Kysely's is bound to a session: a pooler in
 * transaction mode would leave it behind on some connection, and an error could not release it.
 */
class TransactionLockAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

class MigrationDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new TransactionLockAdapter()
  }
}
