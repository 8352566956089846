/** The connections of the migrations, and which of their statements was refused last. */
import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPool } from 'kysely'

export interface MigrationConnections {
  db: Kysely<unknown>
  /** The text of the statement that failed last: Postgres does not repeat it in its error. */
  lastRefused: () => string
}

export function openMigrationDb(pool: PostgresPool): MigrationConnections {
  let refused = ''
  const db = new Kysely<unknown>({
    dialect: new MigrationDialect({ pool }),
    log: (event) => {
      if (event.level === 'error') refused = event.query.sql
    },
  })
  return { db, lastRefused: () => refused }
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
