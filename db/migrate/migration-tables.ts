/**
 * Which migrations have run. Releases of before the schema had a floor refuse every name in `postern_migrations` that
 * they do not know, and could serve all that only adds: so what came later is written down elsewhere, and they may be
 * started beside this program, and in its place.
 */
import { type QueryExecutorProvider, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

import { hasTable } from '../gotrue-database.ts'
import { migrations } from '../migrations/index.ts'

interface MigrationTable {
  table: string
  /** Those that are written down there. */
  migrations: Record<string, Migration>
}

const lastWithoutFloor = '0026-gotrue-level'

const tables: MigrationTable[] = [
  { table: 'postern_migrations', migrations: select((name) => name <= lastWithoutFloor) },
  { table: 'postern_later_migrations', migrations: select((name) => name > lastWithoutFloor) },
]

function select(isWanted: (name: string) => boolean): Record<string, Migration> {
  return Object.fromEntries(Object.entries(migrations).filter(([name]) => isWanted(name)))
}

export function migrationTableOf(name: string): MigrationTable {
  const found = tables.find((one) => Object.hasOwn(one.migrations, name))
  if (!found) throw new Error(`there is no migration ${name}`)
  return found
}

/** By name, in order. */
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
