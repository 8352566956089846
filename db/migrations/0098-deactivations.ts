/** Accounts that SCIM clients deactivated. A deactivation outlives its connection and the provisioned user. */
import { sql } from 'kysely'

import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_deactivations', {
    user_id: 'uuid primary key references users (id) on delete cascade',
    connection_id: 'uuid not null',
    created_at: 'timestamptz not null',
  })
  await sql`
    insert into postern_deactivations (user_id, connection_id, created_at)
    select user_id, sso_provider_id, coalesce(updated_at, now()) from scim_users
    where user_id is not null and deleted_at is null and not active
    on conflict do nothing
  `.execute(db)
}
