/** Users who may call the admin API, and what they change while the server runs. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

const role = "text not null check (role in ('owner', 'operator', 'support'))"

export async function up(db: MigrationDb): Promise<void> {
  await admins(db)
  await settings(db)
}

/** By a link, a user becomes an admin once. It ends with the global sign-out of the admin who made it. */
async function admins(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_admins', {
    user_id: 'uuid primary key references users (id) on delete cascade',
    role,
    created_at: 'timestamptz not null',
    updated_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_admin_links', {
    token_hash: 'text primary key',
    email: 'text',
    role,
    created_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
    created_by: 'uuid references users (id) on delete cascade',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_admin_links_created_by_idx
      on postern_admin_links (created_by)`,
  ])
}

/** Settings that owners change, and every change of them. */
async function settings(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_settings', {
    name: 'text primary key',
    value: 'text not null',
    updated_at: 'timestamptz not null',
    updated_by: 'text',
  })
  await ensureTable(db, 'postern_setting_changes', {
    id: 'bigint generated always as identity primary key',
    name: 'text not null',
    before: 'text',
    after: 'text',
    changed_at: 'timestamptz not null',
    changed_by: 'text',
    reverts: 'bigint',
  })
  await ensureIndexes(db, [
    'create index if not exists postern_setting_changes_name_idx on postern_setting_changes (name, id)',
  ])
}
