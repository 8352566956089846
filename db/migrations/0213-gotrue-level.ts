/**
 * Whether GoTrue created this database, and the list of GoTrue's migrations: its migration command continues after the
 * last one.
 */
import { sql } from 'kysely'

import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'
import { gotrueLevel, gotrueVersions, laterGotrueVersions } from './gotrue-level.ts'

export async function up(db: MigrationDb): Promise<void> {
  await takeover(db)
  await gotrueTables(db)
  await recordVersions(db)
}

/**
 * While the state is 'shared', rows that both programs read are written as GoTrue writes them. It is 'own' after the
 * migration is finished, and in a new database.
 */
async function takeover(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_takeover', {
    only_row: 'boolean primary key default true check (only_row)',
    state: "text not null check (state in ('shared', 'own'))",
    began_at: 'timestamptz not null default now()',
    finished_at: 'timestamptz',
  })
  const homes = await listHomes(db)
  await sql`insert into postern_takeover (state)
    values (${homes.length > 0 ? 'shared' : 'own'}) on conflict do nothing`.execute(db)
}

/** GoTrue expects both after a rollback to it. */
async function gotrueTables(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'instances', {
    id: 'uuid not null primary key',
    uuid: 'uuid',
    raw_base_config: 'text',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  })
  await ensureTable(db, 'schema_migrations', { version: 'varchar(14) not null primary key' })
  await ensureIndexes(db, [
    'create unique index if not exists schema_migrations_version_idx on schema_migrations (version)',
  ])
}

/** To tables of release 2.196, the earlier migrations have added what release 2.197 adds. */
async function recordVersions(db: MigrationDb): Promise<void> {
  await sql`insert into schema_migrations (version) values ${list(gotrueVersions)}
    on conflict do nothing`.execute(db)
  for (const home of await listHomes(db)) {
    await sql`insert into ${sql.id(home, 'schema_migrations')} (version)
      values ${list(laterGotrueVersions)} on conflict do nothing`.execute(db)
  }
}

const list = (versions: readonly string[]) => sql.join(versions.map((version) => sql`(${version})`))

/**
 * The schemas whose list has GoTrue's level. It is in GoTrue's own schema, or in `public` where its login has no search
 * path of its own.
 */
async function listHomes(db: MigrationDb): Promise<string[]> {
  const { rows } = await sql<{ home: string }>`
    select nspname as home from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relname = 'schema_migrations' and nspname in (current_schema(), 'public')
  `.execute(db)
  const homes: string[] = []
  for (const { home } of rows) {
    const found = await sql`
      select 1 from ${sql.id(home, 'schema_migrations')} where version::text = ${gotrueLevel}
    `.execute(db)
    if (found.rows.length > 0) homes.push(home)
  }
  return homes
}
