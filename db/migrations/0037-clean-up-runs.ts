/** When old rows were last removed, which no single replica knows. */
import { sql } from 'kysely'

import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_clean_up_runs', {
    kind: 'text primary key',
    ended_at: 'timestamptz not null',
  })
  // A new installation has no run yet, and is not late for it.
  await sql`
    insert into postern_clean_up_runs (kind, ended_at) values ('rows', now())
    on conflict do nothing`.execute(db)
}
