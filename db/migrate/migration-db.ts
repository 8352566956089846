/** The database handle of the migrations, and its last failed statement. */
import {
  type DatabaseIntrospector,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  type PostgresPool,
  type SchemaMetadata,
  sql,
  type TableMetadata,
} from 'kysely'

export interface MigrationConnections {
  db: Kysely<unknown>
  /** The last failed statement: Postgres errors do not contain its text. */
  lastFailed: () => FailedStatement
}

interface FailedStatement {
  text: string
  /** Undefined while none has failed. */
  error: unknown
}

export function openMigrationDb(pool: PostgresPool): MigrationConnections {
  let lastFailed: FailedStatement = { text: '', error: undefined }
  const db = new Kysely<unknown>({
    dialect: new MigrationDialect({ pool }),
    log: (event) => {
      if (event.level === 'error' && !isAfterFailure(event.error)) {
        lastFailed = { text: event.query.sql, error: event.error }
      }
    },
  })
  return { db, lastFailed: () => lastFailed }
}

/** SQLSTATE in_failed_sql_transaction: an earlier statement of the transaction has the cause. */
export function isAfterFailure(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25P02'
}

/**
 * The transaction's own lock guards the migrations. Kysely's lock is bound to a session: a pooler in transaction mode
 * would leave it on a connection, and an error could not release it.
 */
class TransactionLockAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/**
 * The migrator checks whether its tables exist. Kysely's introspection reads every column of the database and fails
 * when a table is dropped concurrently.
 */
class NamesOnly implements DatabaseIntrospector {
  readonly #db: Kysely<unknown>

  constructor(db: Kysely<unknown>) {
    this.#db = db
  }

  async getSchemas(): Promise<SchemaMetadata[]> {
    const { rows } = await sql<SchemaMetadata>`select nspname as name from pg_namespace`.execute(
      this.#db,
    )
    return rows
  }

  async getTables(): Promise<TableMetadata[]> {
    const { rows } = await sql<{ schema: string; name: string }>`
      select nspname as schema, relname as name
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace where relkind = 'r'
    `.execute(this.#db)
    return rows.map((table) => ({ ...table, isView: false, isForeign: false, columns: [] }))
  }
}

class MigrationDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new TransactionLockAdapter()
  }

  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new NamesOnly(db)
  }
}
