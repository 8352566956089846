/** Dry run of the migrations: all run in one transaction, which is rolled back. */
import type { PostgresPool, Transaction } from 'kysely'

import { migrations } from '../migrations/index.ts'
import { appliedMigrations } from './applied-migrations.ts'
import { applyMigration } from './apply.ts'
import { retryOnLockConflict, type Waiting } from './lock-conflicts.ts'
import { openMigrationDb } from './migration-db.ts'

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
