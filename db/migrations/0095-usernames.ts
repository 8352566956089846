/** Usernames, names held after a change, and names reserved by a sign-up until its address is confirmed. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_usernames',
    {
      username: 'text collate "C" primary key',
      skeleton: 'text collate "C" not null unique',
      user_id: 'uuid references users (id) on delete cascade',
      reserved_for: 'text unique',
      assigned_at: 'timestamptz not null',
      expires_at: 'timestamptz',
    },
    ['check (expires_at is not null or user_id is not null)'],
  )
  await ensureIndexes(db, [
    `create unique index if not exists postern_usernames_user_id_key
      on postern_usernames (user_id) where expires_at is null`,
    `create index if not exists postern_usernames_user_id_idx
      on postern_usernames (user_id)`,
    `create index if not exists postern_usernames_expires_at_idx
      on postern_usernames (expires_at) where expires_at is not null`,
  ])
}
