/** What a second sign-up brought to an account that may be in use, until the mail or message sent for it is answered. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_pending_sign_ups', {
    user_id: 'uuid primary key references users (id) on delete cascade',
    token_hash: 'text not null',
    password_hash: 'text',
    user_metadata: 'jsonb not null',
    created_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_pending_sign_ups_created_at_idx
      on postern_pending_sign_ups (created_at)`,
  ])
}
