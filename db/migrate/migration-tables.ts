/**
 * Applied migrations. Versions before the schema floor reject unknown names in `postern_migrations`, although they
 * could serve an extended schema: later migrations are recorded in another table, so that those versions can still be
 * started.
 */
import { type QueryExecutorProvider, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

import { hasTable } from '../gotrue/database.ts'
import { migrations } from '../migrations/index.ts'

interface MigrationTable {
  table: string
  /** The migrations recorded in this table. */
  migrations: Record<string, Migration>
}

const lastWithoutFloor = '0026-gotrue-level'

const tables: MigrationTable[] = [
  { table: 'postern_migrations', migrations: select((name) => name <= lastWithoutFloor) },
  { table: 'postern_later_migrations', migrations: select((name) => name > lastWithoutFloor) },
]

function select(matches: (name: string) => boolean): Record<string, Migration> {
  return Object.fromEntries(Object.entries(migrations).filter(([name]) => matches(name)))
}

export function getMigrationTable(name: string): MigrationTable {
  const found = tables.find((one) => Object.hasOwn(one.migrations, name))
  if (!found) throw new Error(`there is no migration ${name}`)
  return found
}

/** Sorted by name. */
export async function appliedMigrations(
  db: QueryExecutorProvider,
  schema: string,
): Promise<string[]> {
  const names: string[] = []
  for (const { table } of tables) {
    if (!(await hasTable(db, schema, table))) continue
    const { rows } = await sql<{ name: string }>`select name from ${sql.id(schema, table)}`.execute(
      db,
    )
    names.push(...rows.map(({ name }) => name))
  }
  return names.sort()
}
