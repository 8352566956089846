/** Devices that a user has signed in from, for new sign-in notifications. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  const columns = {
    user_id: 'uuid not null references users (id) on delete cascade',
    device: 'text not null',
    last_used_at: 'timestamptz not null',
  }
  await ensureTable(db, 'postern_sign_in_devices', columns, ['primary key (user_id, device)'])
  await ensureIndexes(db, [
    `create index if not exists postern_sign_in_devices_last_used_at_idx
      on postern_sign_in_devices (last_used_at)`,
  ])
}
