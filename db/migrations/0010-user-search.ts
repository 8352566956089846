/** User search on large tables, by any substring where the trigram extension may be created. */
import { sql } from 'kysely'

import type { MigrationDb } from './ensure.ts'

/** The extension goes into its usual schema: its functions are not part of ours. */
export async function up(db: MigrationDb): Promise<void> {
  await sql`do $$ declare home text := coalesce(to_regnamespace('extensions'), to_regnamespace('public'))::text;
  begin
    execute 'create extension if not exists pg_trgm' || coalesce(' with schema ' || home, '');
  exception when others then
    raise notice 'pg_trgm cannot be created: users are found by the start of what is searched';
  end $$`.execute(db)
}
