import type { PostgresPool } from 'kysely'

import { dryRunMigrations } from '../../db/migrate/dry-run.ts'
import { note, ok, stop, type TakeoverFinding } from './finding.ts'

/** Runs the migrations of the first start in a transaction and rolls it back. */
export async function migrationTrial(
  pool: PostgresPool,
  schema: string,
): Promise<TakeoverFinding[]> {
  try {
    const { tried, failure } = await dryRunMigrations(pool, schema)
    if (!failure) {
      return [ok(`${tried} migrations were tried in a transaction and rolled back: all succeed.`)]
    }
    return [stop(`The migration ${failure.migration} fails on this database: ${failure.reason}.`)]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [note(`The migrations could not be tried; run this again: ${reason}`)]
  }
}
