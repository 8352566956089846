/**
 * Finding people in a list of millions: by the start of anything with plain indexes, by any part of it with
 * trigrams where the extension may be created.
 */
import { sql } from 'kysely'

import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  // A column of its own, so that other changes of the metadata leave the index alone and stay cheap.
  await ensureTable(db, 'users', {
    postern_name: `text generated always as (left(coalesce(raw_user_meta_data ->> 'full_name',
      raw_user_meta_data ->> 'name'), 255)) stored`,
  })
  await ensureTable(db, 'sessions', { postern_impersonated_by: 'text' })
  await ensureIndexes(db, [
    'drop index if exists postern_users_listing_idx',
    'create index if not exists postern_users_by_aud_idx on users (instance_id, aud, created_at, id)',
  ])
  const operators = await trigramOperators(db)
  // One or two letters are no trigram: whatever there is, they are found by prefix.
  await ensureIndexes(db, [...prefixIndexes, ...(operators ? [trigramIndex(operators)] : [])])
}

const trigramIndex = (operators: string) => `create index if not exists postern_users_trigram_idx
  on users using gin (email ${operators}, phone ${operators}, lower(postern_name) ${operators})`

const prefixIndexes = [
  'create index if not exists postern_users_email_idx on users (email text_pattern_ops)',
  'create index if not exists postern_users_phone_idx on users (phone text_pattern_ops)',
  'create index if not exists postern_users_name_idx on users (lower(postern_name) text_pattern_ops)',
]

/**
 * The qualified name of the operator class; undefined where the extension is missing and may not be created. It goes
 * where extensions usually are, because the functions it brings are none of ours.
 */
async function trigramOperators(db: MigrationDb): Promise<string | undefined> {
  await sql`do $$ declare home text := coalesce(to_regnamespace('extensions'), to_regnamespace('public'))::text;
  begin
    execute 'create extension if not exists pg_trgm' || coalesce(' with schema ' || home, '');
  exception when others then
    raise notice 'pg_trgm cannot be created: people are found by the start of what is searched';
  end $$`.execute(db)
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', nspname, opcname) as name
    from pg_opclass join pg_namespace on pg_namespace.oid = opcnamespace
    where opcname = 'gin_trgm_ops' and has_schema_privilege(nspname, 'usage') limit 1
  `.execute(db)
  return rows[0]?.name
}
