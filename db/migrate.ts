/** Brings the schema of a database up to what this program expects; it never goes back. */
import {
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  type PostgresPool,
  type QueryExecutorProvider,
  sql,
  type Transaction,
} from 'kysely'
import { Migrator } from 'kysely/migration'

import { migrations } from './migrations/index.ts'

export interface MigrateOptions {
  /** The Postgres schema of all tables (AUTH_DB_NAMESPACE). */
  schema: string
  log: { info(message: string): void }
  /** Brings the job queue's own tables up to date. Runs on another connection of the pool. */
  migrateQueue: () => Promise<void>
}

export interface MigrationState {
  applied: string[]
  pending: string[]
  /** Applied by a newer program: this one does not know them. */
  unknown: string[]
}

/** The database holds migrations of a newer program. */
export class SchemaTooNewError extends Error {
  override name = 'SchemaTooNewError'

  constructor(schema: string, unknown: string[]) {
    super(
      `The schema "${schema}" was migrated by a newer version of this program ` +
        `(${unknown.join(', ')}). Start that version, or restore a backup from before the upgrade.`,
    )
  }
}

const migrationTable = 'postern_migrations'

/**
 * Safe when several replicas start at once, also through a pooler in transaction mode: one transaction
 * holds an advisory lock, does everything and is seen whole or not at all. Throws SchemaTooNewError.
 */
export async function migrate(pool: PostgresPool, options: MigrateOptions): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new MigrationDialect({ pool }) })
  const state = await migrationState(db, options.schema)
  refuseNewer(options.schema, state)
  if (state.pending.length === 0) return options.migrateQueue()
  await db.transaction().execute(async (trx) => {
    await lock(trx, options.schema)
    await migrateLocked(trx, options)
    await options.migrateQueue()
  })
}

/** What has been applied to `schema`, what is still to come, and what a newer program has added. */
export async function migrationState(
  db: QueryExecutorProvider,
  schema: string,
): Promise<MigrationState> {
  const known = Object.keys(migrations)
  const applied = await appliedMigrations(db, schema)
  return {
    applied,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  }
}

async function migrateLocked(trx: Transaction<unknown>, options: MigrateOptions): Promise<void> {
  const { schema, log } = options
  refuseNewer(schema, await migrationState(trx, schema))
  // The migrations name tables without a schema; a local setting ends with the transaction.
  await sql`select set_config('search_path', quote_ident(${schema}), true)`.execute(trx)
  const migrator = new Migrator({
    db: trx,
    provider: { getMigrations: async () => migrations },
    migrationTableSchema: schema,
    migrationTableName: migrationTable,
    migrationLockTableName: 'postern_migration_lock',
  })
  const { error, results } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  for (const { migrationName } of results ?? []) log.info(`Migrated ${schema}: ${migrationName}`)
}

async function appliedMigrations(db: QueryExecutorProvider, schema: string): Promise<string[]> {
  const table = await sql<{ found: boolean }>`
    select to_regclass(format('%I.%I', ${schema}::text, ${migrationTable}::text)) is not null as found
  `.execute(db)
  if (!table.rows[0]?.found) return []
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.id(schema, migrationTable)} order by name
  `.execute(db)
  return rows.map((row) => row.name)
}

function refuseNewer(schema: string, state: MigrationState): void {
  if (state.unknown.length > 0) throw new SchemaTooNewError(schema, state.unknown)
}

async function lock(trx: Transaction<unknown>, schema: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`postern:${schema}`}, 0))`.execute(trx)
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
