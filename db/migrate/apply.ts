/**
 * Applies migrations during traffic, or tries them all in a transaction that is rolled back. A statement that meets a
 * lock is rolled back and retried, so that requests do not queue behind it.
 */
import { setTimeout as pause } from 'node:timers/promises'

import { type PostgresPool, sql, type Transaction } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'

import { formerMigrations } from '../migrations/former-migrations.ts'
import { migrations } from '../migrations/index.ts'
import { appliedMigrations, migrationTable, namesIn } from './applied-migrations.ts'
import { isAfterFailure, type MigrationConnections, openMigrationDb } from './migration-db.ts'

/** A statement that waits for a lock blocks all later ones on that table. */
const lockTimeoutMs = 50

/** Applies the first pending migration. */
export async function applyMigration(
  trx: Transaction<unknown>,
  { schema, lastFailed }: Pick<Waiting, 'schema' | 'lastFailed'>,
): Promise<void> {
  // Migrations name tables without a schema. A local setting ends with the transaction.
  await sql`select set_config('search_path', quote_ident(${schema}), true),
    set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`.execute(trx)
  const former = await recordedFormer(trx, schema)
  const migrator = new Migrator({
    db: trx,
    provider: { getMigrations: async () => ({ ...former, ...migrations }) },
    migrationTableSchema: schema,
    migrationTableName: migrationTable,
    migrationLockTableName: 'postern_migration_lock',
    allowUnorderedMigrations: true,
  })
  const { error } = await migrator.migrateUp()
  // Kysely queries again after a failed statement of its own, and throws the error of that query.
  if (isAfterFailure(error)) throw lastFailed().error
  if (error !== undefined) throw error
}

/** Kysely rejects a recorded name that it is not given. */
async function recordedFormer(
  trx: Transaction<unknown>,
  schema: string,
): Promise<Record<string, Migration>> {
  const names = await namesIn(trx, schema, migrationTable)
  const former = names.filter((name) => formerMigrations.has(name))
  return Object.fromEntries(former.map((name) => [name, { up: async () => {} }]))
}

interface DryRunResult {
  /** The number of migrations that ran. */
  tried: number
  /** The first failed migration; undefined when all succeeded. */
  failure: { migration: string; reason: string } | undefined
}

/** Rolls the transaction back. */
class RollBack extends Error {}

/** With a lock that is held longer, the result is unknown. */
const maxWaitMs = 10_000

/**
 * Runs every pending migration and rolls back. Throws an Error that names the blocking transactions when they last too
 * long.
 */
export async function dryRunMigrations(pool: PostgresPool, schema: string): Promise<DryRunResult> {
  const connections = openMigrationDb(pool)
  const waiting = { ...connections, schema, maxWaitMs, log: { info() {} } }
  const applied = await appliedMigrations(connections.db, schema)
  const pending = Object.keys(migrations).filter((name) => !applied.includes(name))
  let current = ''
  const runAll = async (trx: Transaction<unknown>) => {
    for (current of pending) await applyMigration(trx, waiting)
    throw new RollBack()
  }
  try {
    await inOneTransaction(waiting, runAll)
  } catch (error) {
    if (!isDatabaseError(error)) throw error
    return { tried: pending.length, failure: { migration: current, reason: error.message } }
  }
  return { tried: pending.length, failure: undefined }
}

async function inOneTransaction(
  waiting: Waiting,
  work: (trx: Transaction<unknown>) => Promise<void>,
): Promise<void> {
  await retryOnLockConflict(waiting, 'The trial of the migrations', async () => {
    try {
      await waiting.db.transaction().execute(work)
    } catch (error) {
      if (!(error instanceof RollBack)) throw error
    }
  })
}

/** An error with an SQLSTATE. */
function isDatabaseError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code))
}

export interface Waiting extends MigrationConnections {
  schema: string
  /** How long the same lock is retried, in milliseconds. */
  maxWaitMs: number
  log: { info(message: string): void }
}

/**
 * Retries with growing pauses after lock conflicts, and logs from time to time which statement waits for which
 * transactions. Throws an Error with the same text after the time limit.
 */
export async function retryOnLockConflict(
  waiting: Waiting,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  const deadline = Date.now() + waiting.maxWaitMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isLockConflict(error)) throw error
      const statement = waiting.lastFailed().text
      const isOver = Date.now() > deadline
      if (isOver || attempt % 10 === 0) {
        const sentence = describeWait(what, statement, await holders(waiting))
        if (isOver) {
          throw new Error(`${sentence} Nothing was changed: start again.`, { cause: error })
        }
        waiting.log.info(sentence)
      }
    }
    await pause(Math.min(50 * attempt, 1_000) * (0.5 + Math.random()))
  }
}

export function describeWait(what: string, statement: string, holders: string[]): string {
  const who = holders.length > 0 ? holders.join('; ') : 'anyone who held the lock is gone by now'
  return `${what} waits to run "${statement}": ${who}.`
}

/** Names a row of pg_stat_activity, without its query text, which may hold user data. */
export function describeActivity(activity: string) {
  const column = (name: string) => sql.ref(`${activity}.${name}`)
  return sql<string>`format('process %s of %s (%s), %s for %s s', ${column('pid')}, ${column('usename')},
    coalesce(nullif(${column('application_name')}, ''), 'no name'), ${column('state')},
    extract(epoch from now() - ${column('xact_start')})::int)`
}

/** Names the oldest transactions with locks on our tables. */
async function holders({ db, schema }: Waiting): Promise<string[]> {
  const { rows } = await sql<{ holder: string }>`
    select ${describeActivity('activity')} as holder from pg_stat_activity activity
    where pid <> pg_backend_pid() and pid in (
      select pid from pg_locks
      join pg_class on pg_class.oid = relation and relnamespace = to_regnamespace(quote_ident(${schema}))
      where granted and database = (select oid from pg_database where datname = current_database())
    ) order by xact_start limit 3
  `.execute(db)
  return rows.map(({ holder }) => holder)
}

/** SQLSTATE lock_not_available, deadlock_detected. */
function isLockConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['55P03', '40P01'].includes(`${error.code}`)
}
