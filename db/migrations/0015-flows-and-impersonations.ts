/** Details of flows and sessions get tables of our own: GoTrue must not find unknown columns in its tables. */
import { sql } from 'kysely'

import { ensureIndexes, ensureTable, hasColumn, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await flows(db)
  await impersonations(db)
}

async function flows(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_flows', {
    flow_id: 'uuid primary key references flow_state (id) on delete cascade',
    session_id: 'uuid references sessions (id) on delete cascade',
    secrets: 'text',
  })
  await ensureIndexes(db, [
    'create index if not exists postern_flows_session_id_idx on postern_flows (session_id)',
  ])
  if (!(await hasColumn(db, 'flow_state', 'postern_secrets'))) return
  // The session of an open linking flow was not stored: these flows have to be started again.
  await sql`insert into postern_flows (flow_id, secrets) select id, postern_secrets from flow_state
    where postern_secrets is not null and linking_target_id is null`.execute(db)
  await sql`alter table flow_state drop column postern_secrets`.execute(db)
}

async function impersonations(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_impersonations', {
    session_id: 'uuid primary key references sessions (id) on delete cascade',
    impersonated_by: 'text not null',
  })
  if (!(await hasColumn(db, 'sessions', 'postern_impersonated_by'))) return
  await sql`insert into postern_impersonations (session_id, impersonated_by)
    select id, postern_impersonated_by from sessions where postern_impersonated_by is not null`.execute(
    db,
  )
  await sql`alter table sessions drop column postern_impersonated_by`.execute(db)
}
