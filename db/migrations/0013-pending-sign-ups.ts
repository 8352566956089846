/** Data of a repeated sign-up for an address in use, until its link or code is consumed. */
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
