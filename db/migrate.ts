/**
 * Brings the schema of a database up to what this program expects, beside the traffic of whoever serves from it: one
 * short transaction a migration, which gives way rather than make others wait. It never goes back.
 */
import { setTimeout as pause } from 'node:timers/promises'

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

import { hasTable, requireCurrentGotrue } from './gotrue-database.ts'
import { migrations } from './migrations/index.ts'
import { buildIndex, missingIndexes } from './own-indexes.ts'
import { prepareQueueSchema } from './queue-schema.ts'

export interface MigrateOptions {
  /** The Postgres schema of all tables (AUTH_DB_NAMESPACE). */
  schema: string
  log: { info(message: string): void }
  /** Where the job queue lives. */
  queueSchema: string
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

/** A statement that waits for a lock makes all wait that come after it. */
const lockTimeoutMs = 50
const lockPatienceMs = 300_000

/**
 * Safe when several replicas start at once, also through a pooler in transaction mode: one of them does everything, the
 * others wait for it. Throws SchemaTooNewError, GotrueTooOldError and QueueSchemaError, before anything is changed.
 */
export async function migrate(pool: PostgresPool, options: MigrateOptions): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new MigrationDialect({ pool }) })
  const { schema } = options
  const state = await migrationState(db, schema)
  if (state.unknown.length > 0) throw new SchemaTooNewError(schema, state.unknown)
  if (state.applied.length === 0) await requireCurrentGotrue(db, schema)
  await prepareQueueSchema(db, options.queueSchema)
  const isDone = state.pending.length === 0 && (await missingIndexes(db, schema)).length === 0
  if (isDone) return options.migrateQueue()
  await whileAlone(db, schema, async () => {
    await applyPending(db, options)
    await buildIndexes(db, options)
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

async function applyPending(db: Kysely<unknown>, { schema, log }: MigrateOptions): Promise<void> {
  const { pending } = await migrationState(db, schema)
  for (const [index, name] of pending.entries()) {
    await givingWay(log, name, () => db.transaction().execute((trx) => applyNext(trx, schema)))
    log.info(`Migrated ${schema}: ${name} (${index + 1} of ${pending.length})`)
  }
}

async function applyNext(trx: Transaction<unknown>, schema: string): Promise<void> {
  // The migrations name tables without a schema; local settings end with the transaction.
  await sql`select set_config('search_path', quote_ident(${schema}), true),
    set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`.execute(trx)
  const migrator = new Migrator({
    db: trx,
    provider: { getMigrations: async () => migrations },
    migrationTableSchema: schema,
    migrationTableName: migrationTable,
    migrationLockTableName: 'postern_migration_lock',
    allowUnorderedMigrations: true,
  })
  const { error } = await migrator.migrateUp()
  if (error !== undefined) throw error
}

async function buildIndexes(db: Kysely<unknown>, { schema, log }: MigrateOptions): Promise<void> {
  const missing = await missingIndexes(db, schema)
  for (const [index, wanted] of missing.entries()) {
    await givingWay(log, wanted.name, () => buildIndex(db, schema, wanted))
    log.info(`Built the index ${wanted.name} (${index + 1} of ${missing.length})`)
  }
}

/** Tries again, after growing pauses, what gave way to somebody who held a lock. */
async function givingWay(
  log: MigrateOptions['log'],
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  const deadline = Date.now() + lockPatienceMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isLockConflict(error) || Date.now() > deadline) throw error
      if (attempt % 10 === 0) log.info(`${what} waits for a moment without long transactions`)
    }
    await pause(Math.min(50 * attempt, 1_000) * (0.5 + Math.random()))
  }
}

/** lock_not_available, deadlock_detected. */
function isLockConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['55P03', '40P01'].includes(`${error.code}`)
}

/**
 * A lock of the transaction, because one of the session would stay behind on some connection of a pooler. It is asked
 * for and not waited for: a statement that waits would be waited for by the building of an index.
 */
async function whileAlone(
  db: Kysely<unknown>,
  schema: string,
  work: () => Promise<void>,
): Promise<void> {
  for (;;) {
    const isDone = await db.transaction().execute(async (trx) => {
      // Without parameters: a portal, which they need, would keep its snapshot, and the index would wait for that, too.
      const { rows } = await sql<{ alone: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended(${sql.lit(`postern:${schema}`)}, 0)) as alone,
          set_config('idle_in_transaction_session_timeout', '0', true)
      `.execute(trx)
      if (rows[0]?.alone !== true) return false
      await work()
      return true
    })
    if (isDone) return
    await pause(100 + Math.random() * 200)
  }
}

async function appliedMigrations(db: QueryExecutorProvider, schema: string): Promise<string[]> {
  if (!(await hasTable(db, schema, migrationTable))) return []
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.id(schema, migrationTable)} order by name
  `.execute(db)
  return rows.map((row) => row.name)
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
