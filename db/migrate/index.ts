/**
 * Migrates the schema forward while other replicas serve requests: one short transaction per migration, retried on lock
 * conflicts. There is no way back.
 */
import { setTimeout as pause } from 'node:timers/promises'

import { type Kysely, type PostgresPool, type QueryExecutorProvider, sql } from 'kysely'

import { findCitusSharding, probeCapabilities } from '../core/capabilities.ts'
import {
  assertUsableDatabase,
  findMissingMigrationRights,
  findMissingRights,
  foreignEncoding,
} from '../core/requirements.ts'
import { requireCurrentGotrue } from '../gotrue/database.ts'
import { prepareQueueSchema } from '../jobs/jobs.ts'
import { formerMigrations, releasedMigrations } from '../migrations/former-migrations.ts'
import { migrations } from '../migrations/index.ts'
import { appliedMigrations, servesNewer } from './applied-migrations.ts'
import { applyMigration, retryOnLockConflict, type Waiting } from './apply.ts'
import { buildIndexes } from './build-indexes.ts'
import { type IndexScope, invalidIndexes, missingIndexes, unusedIndexes } from './indexes.ts'
import { openMigrationDb } from './migration-db.ts'

/** The schema is that of all tables (AUTH_DB_NAMESPACE). */
interface MigrateOptions extends IndexScope {
  log: { info(message: string): void; warn(message: string): void }
  /** The schema of the job queue. */
  queueSchema: string
  /** Migrates the tables of the job queue. Runs on another connection of the pool. */
  migrateQueue: () => Promise<void>
}

interface MigrationState {
  applied: string[]
  pending: string[]
  /** Applied by a newer version, unknown to this one. */
  unknown: string[]
  /** Not empty for a database from before commit 397d0154: migrations that this version no longer has. */
  missing: string[]
}

/** The database has migrations of a newer version. */
export class SchemaTooNewError extends Error {
  override name = 'SchemaTooNewError'

  constructor(schema: string, unknown: string[]) {
    super(
      `The schema "${schema}" was migrated by a newer version of this program ` +
        `(${unknown.join(', ')}). Start that version, or restore a backup from before the upgrade.`,
    )
  }
}

/** The database is from before commit 397d0154. */
export class SchemaTooOldError extends Error {
  override name = 'SchemaTooOldError'

  constructor(schema: string, missing: string[]) {
    super(describeTooOld(schema, missing))
  }
}

/** What to do with a database that lacks these former migrations. */
export function describeTooOld(schema: string, missing: string[]): string {
  return (
    `The schema "${schema}" is of a version before commit 397d0154, which this version does not upgrade: it lacks ` +
    `${missing.length} of the migrations of that commit, the first is ${missing[0]}. Check out commit 397d0154, run ` +
    '"npm run migrate" of it once, and start this version again.'
  )
}

/** An operator has to end a transaction that holds locks for longer. */
const maxLockWaitMs = 300_000

/**
 * Safe when several replicas start concurrently, also behind a pooler in transaction mode: one migrates, the others
 * wait. Throws UnusableDatabaseError, SchemaTooNewError, SchemaTooOldError and GotrueTooOldError before anything is
 * changed.
 */
export async function migrate(pool: PostgresPool, options: MigrateOptions): Promise<void> {
  const connections = openMigrationDb(pool)
  const { db } = connections
  const { schema, log } = options
  const { indexesUserNames } = options
  const waiting = { ...connections, schema, indexesUserNames, log, maxWaitMs: maxLockWaitMs }
  await requireCapabilities(db, log)
  assertUsableDatabase(await findMissingRights(db, schema))
  assertUsableDatabase(await findCitusSharding(db, schema))
  const state = await migrationState(db, schema)
  if (state.unknown.length > 0) return serveNewer(db, options, state)
  if (state.missing.length > 0) throw new SchemaTooOldError(schema, state.missing)
  if (state.pending.length > 0) {
    assertUsableDatabase(await findMissingMigrationRights(db, schema))
  }
  if (state.applied.length === 0) {
    assertUsableDatabase(await foreignEncoding(db))
    await requireOwnOrCurrentTables(db, schema)
  }
  await prepareQueueSchema(db, options.queueSchema)
  const indexes = [...(await missingIndexes(db, options)), ...(await unusedIndexes(db, options))]
  if (state.pending.length === 0 && indexes.length === 0) await options.migrateQueue()
  else {
    await withMigrationLock(db, schema, async () => {
      await applyPending(waiting)
      await buildIndexes(waiting)
      await options.migrateQueue()
    })
  }
  await nameInvalidIndexes(db, options)
}

/** Throws GotrueTooOldError, except for tables that another replica has created since the migrations were listed. */
async function requireOwnOrCurrentTables(db: Kysely<unknown>, schema: string): Promise<void> {
  try {
    await requireCurrentGotrue(db, schema)
  } catch (error) {
    const { applied } = await migrationState(db, schema)
    if (applied.length === 0) throw error
  }
}

async function requireCapabilities(db: Kysely<unknown>, log: MigrateOptions['log']): Promise<void> {
  const { blocker, notices } = await probeCapabilities(db)
  if (blocker !== undefined) assertUsableDatabase([blocker])
  for (const notice of notices) log.info(notice)
}

/** Changes nothing: the newer version may have dropped objects intentionally that this version would add. */
async function serveNewer(
  db: Kysely<unknown>,
  { schema, log }: MigrateOptions,
  { pending, unknown }: MigrationState,
): Promise<void> {
  const isServed = pending.length === 0 && (await servesNewer(db, schema))
  if (!isServed) throw new SchemaTooNewError(schema, unknown)
  log.warn(
    `The schema "${schema}" was migrated by a newer version of this program (${unknown.join(', ')}). This version keeps serving.`,
  )
}

/** Warns of invalid indexes that are not ours; ours are rebuilt. */
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

/** Returns the applied, pending, unknown and missing migrations of `schema`. */
export async function migrationState(
  db: QueryExecutorProvider,
  schema: string,
): Promise<MigrationState> {
  const known = Object.keys(migrations)
  const applied = await appliedMigrations(db, schema)
  return {
    applied,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name) && !formerMigrations.has(name)),
    missing: applied.some((name) => formerMigrations.has(name))
      ? releasedMigrations.filter((name) => !applied.includes(name))
      : [],
  }
}

async function applyPending(waiting: Waiting): Promise<void> {
  const { db, schema, log } = waiting
  const { pending } = await migrationState(db, schema)
  for (const [index, name] of pending.entries()) {
    await retryOnLockConflict(waiting, name, () =>
      db.transaction().execute((trx) => applyMigration(trx, waiting)),
    )
    log.info(`Migrated ${schema}: ${name} (${index + 1} of ${pending.length})`)
  }
}

/**
 * A transaction-level advisory lock: a session-level one would stay on a connection of a pooler. It is polled, because
 * a statement that waits for it would block concurrent index builds.
 */
async function withMigrationLock(
  db: Kysely<unknown>,
  schema: string,
  work: () => Promise<void>,
): Promise<void> {
  for (;;) {
    const isDone = await db.transaction().execute(async (trx) => {
      // Without parameters: a portal would keep its snapshot, and the index build would wait for it.
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
