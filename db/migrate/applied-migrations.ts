/** The migrations that a database has recorded: those of this version, former ones, and those of newer versions. */
import { type QueryExecutorProvider, sql } from 'kysely'

import { hasTable } from '../gotrue/database.ts'

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
