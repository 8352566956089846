/** Users who may call the admin API, each with a role, and the one-time links by which they become one. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_admins', {
    user_id: 'uuid primary key references users (id) on delete cascade',
    role: "text not null check (role in ('owner', 'operator', 'support'))",
    created_at: 'timestamptz not null',
    updated_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_admin_links', {
    token_hash: 'text primary key',
    email: 'text',
    role: "text not null check (role in ('owner', 'operator', 'support'))",
    created_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
  })
}
