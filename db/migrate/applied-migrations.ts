/**
 * The migrations that a database has recorded: of this version, former ones, and of newer versions that may be served.
 */
import { type QueryExecutorProvider, sql } from 'kysely'

import { hasTable } from '../gotrue/database.ts'
import { formerMigrations } from '../migrations/former-migrations.ts'
import { migrations } from '../migrations/index.ts'

export const migrationTable = 'postern_migrations'

/** Commits before the baselines recorded a part of the names there. The last baseline moves them and drops it. */
const formerTable = 'postern_later_migrations'

/** Sorted by name. */
export async function appliedMigrations(
  db: QueryExecutorProvider,
  schema: string,
): Promise<string[]> {
  // In this order: names that another replica moves meanwhile are read twice, not missed.
  const moved = await namesIn(db, schema, formerTable)
  return [...new Set([...moved, ...(await namesIn(db, schema, migrationTable))])].sort()
}

/** Empty without the table. */
export async function namesIn(
  db: QueryExecutorProvider,
  schema: string,
  table: string,
): Promise<string[]> {
  if (!(await hasTable(db, schema, table))) return []
  try {
    const { rows } = await sql<{ name: string }>`select name from ${sql.id(schema, table)}`.execute(
      db,
    )
    return rows.map(({ name }) => name)
  } catch (error) {
    // SQLSTATE undefined_table: another replica has dropped it since.
    if (error instanceof Error && 'code' in error && error.code === '42P01') return []
    throw error
  }
}

/** True when this version may serve a schema with migrations that it does not know. */
export async function servesNewer(db: QueryExecutorProvider, schema: string): Promise<boolean> {
  const floor = await findSchemaFloor(db, schema)
  if (floor === undefined) return false
  return Object.hasOwn(migrations, floor) || formerMigrations.has(floor)
}

/** The migration that a version has to know; undefined when none was recorded. */
async function findSchemaFloor(
  db: QueryExecutorProvider,
  schema: string,
): Promise<string | undefined> {
  if (!(await hasTable(db, schema, 'postern_schema_floor'))) return undefined
  const { rows } = await sql<{ migration: string }>`
    select migration from ${sql.id(schema, 'postern_schema_floor')}`.execute(db)
  return rows[0]?.migration
}
