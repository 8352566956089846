/** Whether this version may serve a schema that a newer version migrated, during rolling upgrades and rollbacks. */
import { type QueryExecutorProvider, sql } from 'kysely'

import { hasTable } from '../gotrue/database.ts'
import { formerMigrations } from '../migrations/former-migrations.ts'
import { migrations } from '../migrations/index.ts'

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
