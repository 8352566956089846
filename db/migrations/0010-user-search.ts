/** Finding people in a list of millions: by any part of what is searched where the extension for it may be created. */
import { sql } from 'kysely'

import type { MigrationDb } from './ensure.ts'

/** The extension goes where extensions usually are, because the functions it brings are none of ours. */
export async function up(db: MigrationDb): Promise<void> {
  await sql`do $$ declare home text := coalesce(to_regnamespace('extensions'), to_regnamespace('public'))::text;
  begin
    execute 'create extension if not exists pg_trgm' || coalesce(' with schema ' || home, '');
  exception when others then
    raise notice 'pg_trgm cannot be created: people are found by the start of what is searched';
  end $$`.execute(db)
}
