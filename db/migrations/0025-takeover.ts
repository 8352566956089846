/**
 * Whether GoTrue created this database. While it is 'shared', rows that both programs read are written as GoTrue writes
 * them. It is 'own' after the migration is finished, and in a new database.
 */
import { sql } from 'kysely'

import { ensureTable, type MigrationDb } from './ensure.ts'
import { gotrueLevel } from './gotrue-level.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_takeover', {
    only_row: 'boolean primary key default true check (only_row)',
    state: "text not null check (state in ('shared', 'own'))",
    began_at: 'timestamptz not null default now()',
    finished_at: 'timestamptz',
  })
  await sql`insert into postern_takeover (state)
    values (${(await isGotrues(db)) ? 'shared' : 'own'}) on conflict do nothing`.execute(db)
}

/** GoTrue's versions are in its schema, or in `public` where its login has no search path of its own. */
async function isGotrues(db: MigrationDb): Promise<boolean> {
  const { rows } = await sql<{ home: string }>`
    select nspname as home from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relname = 'schema_migrations' and nspname in (current_schema(), 'public')
  `.execute(db)
  for (const { home } of rows) {
    const found = await sql`
      select 1 from ${sql.id(home, 'schema_migrations')} where version::text = ${gotrueLevel}
    `.execute(db)
    if (found.rows.length > 0) return true
  }
  return false
}
