/**
 * Brings the schema of a database up to what this program expects, beside the traffic of whoever serves from it: one
 * short transaction a migration, which gives way rather than make others wait. It never goes back.
 */
import { setTimeout as pause } from 'node:timers/promises'

import {
  type Kysely,
  type PostgresPool,
  type QueryExecutorProvider,
  sql,
  type Transaction,
} from 'kysely'
import { Migrator } from 'kysely/migration'

import { requireCurrentGotrue } from './gotrue-database.ts'
import { buildIndexes } from './migrate/build-indexes.ts'
import { givingWay, type Waiting } from './migrate/giving-way.ts'
import { isAfterFailure, openMigrationDb } from './migrate/migration-db.ts'
import { appliedMigrations, migrationTableOf } from './migrate/migration-tables.ts'
import { servesNewer } from './migrate/schema-floor.ts'
import { migrations } from './migrations/index.ts'
import { invalidIndexes, missingIndexes } from './own-indexes.ts'
import { prepareQueueSchema } from './queue-schema.ts'
import { findObstacles, foreignEncoding, refuseUnusable } from './unusable-database.ts'

export interface MigrateOptions {
  /** The Postgres schema of all tables (AUTH_DB_NAMESPACE). */
  schema: string
  log: { info(message: string): void; warn(message: string): void }
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

/** A statement that waits for a lock makes all wait that come after it. */
const lockTimeoutMs = 50
/** Whoever holds a lock for longer is to be seen to. */
const lockPatienceMs = 300_000

/**
 * Safe when several replicas start at once, also through a pooler in transaction mode: one of them does everything, the
 * others wait for it. Throws UnusableDatabaseError, SchemaTooNewError, GotrueTooOldError and QueueSchemaError, before
 * anything is changed.
 */
export async function migrate(pool: PostgresPool, options: MigrateOptions): Promise<void> {
  const connections = openMigrationDb(pool)
  const { db } = connections
  const { schema, log } = options
  const waiting = { ...connections, schema, log, patienceMs: lockPatienceMs }
  refuseUnusable(await findObstacles(db, schema))
  const state = await migrationState(db, schema)
  if (state.unknown.length > 0) return serveNewer(db, options, state)
  if (state.applied.length === 0) {
    refuseUnusable(await foreignEncoding(db))
    await requireCurrentGotrue(db, schema)
  }
  await prepareQueueSchema(db, options.queueSchema)
  const isDone = state.pending.length === 0 && (await missingIndexes(db, schema)).length === 0
  if (isDone) await options.migrateQueue()
  else {
    await whileAlone(db, schema, async () => {
      await applyPending(waiting)
      await buildIndexes(waiting)
      await options.migrateQueue()
    })
  }
  await nameInvalidIndexes(db, options)
}

/** Changes nothing: what this program lacks, or would build anew, may be what the newer one has taken away. */
async function serveNewer(
  db: Kysely<unknown>,
  { schema, log }: MigrateOptions,
  { pending, unknown }: MigrationState,
): Promise<void> {
  const isServed = pending.length === 0 && (await servesNewer(db, schema))
  if (!isServed) throw new SchemaTooNewError(schema, unknown)
  log.warn(
    `The schema "${schema}" was migrated by a newer version of this program (${unknown.join(', ')}). This one serves on.`,
  )
}

/** Ours are built anew; of the others only their operator knows whether they are wanted. */
async function nameInvalidIndexes(
  db: Kysely<unknown>,
  { schema, log }: MigrateOptions,
): Promise<void> {
  const names = await invalidIndexes(db, schema)
  if (names.length === 0) return
  const list = names.map((name) => `${schema}.${name}`).join(', ')
  log.warn(
    `Indexes that Postgres does not use: ${list}. Build each by: reindex index concurrently NAME;`,
  )
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

async function applyPending(waiting: Waiting): Promise<void> {
  const { db, schema, log } = waiting
  const { pending } = await migrationState(db, schema)
  for (const [index, name] of pending.entries()) {
    await givingWay(waiting, name, () =>
      db.transaction().execute((trx) => apply(trx, waiting, name)),
    )
    log.info(`Migrated ${schema}: ${name} (${index + 1} of ${pending.length})`)
  }
}

/** The first of its table that has not run yet. */
async function apply(
  trx: Transaction<unknown>,
  { schema, lastRefused }: Waiting,
  name: string,
): Promise<void> {
  const { table, migrations } = migrationTableOf(name)
  // The migrations name tables without a schema; local settings end with the transaction.
  await sql`select set_config('search_path', quote_ident(${schema}), true),
    set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`.execute(trx)
  const migrator = new Migrator({
    db: trx,
    provider: { getMigrations: async () => migrations },
    migrationTableSchema: schema,
    migrationTableName: table,
    migrationLockTableName: 'postern_migration_lock',
    allowUnorderedMigrations: true,
  })
  const { error } = await migrator.migrateUp()
  // Kysely looks once more where a table of its own was refused, and has the refusal of that look.
  if (isAfterFailure(error)) throw lastRefused().error
  if (error !== undefined) throw error
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
