/** The time of the last cleanup by any replica. */
import { sql } from 'kysely'

import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_clean_up_runs', {
    kind: 'text primary key',
    ended_at: 'timestamptz not null',
  })
  // A new installation is not late for its first cleanup.
  await sql`
    insert into postern_clean_up_runs (kind, ended_at) values ('rows', now())
    on conflict do nothing`.execute(db)
}
