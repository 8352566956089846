/**
 * The migration that a program must know to serve this schema, so that older versions keep serving during an upgrade.
 */
import { sql } from 'kysely'

import { ensureRowLevelSecurity, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_schema_floor', {
    only_row: 'boolean primary key default true check (only_row)',
    migration: 'text not null',
  })
  await sql`insert into postern_schema_floor (migration) values ('0214-schema-floor')
    on conflict do nothing`.execute(db)
  // They exist since before the first migration.
  await ensureRowLevelSecurity(db, 'postern_migrations')
  await ensureRowLevelSecurity(db, 'postern_migration_lock')
}
