/**
 * How a session was authenticated beyond GoTrue's amr, and which sign-in methods are too new to authorize changes
 * (docs/decisions/2026-11-25-fresh-proof.md).
 */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_session_proofs', {
    session_id: 'uuid primary key references sessions (id) on delete cascade',
    by_sms: 'boolean not null default false',
    reauthenticated_at: 'timestamptz',
    asks_email_change: 'boolean not null default false',
  })
  const columns = {
    user_id: 'uuid not null references users (id) on delete cascade',
    method: 'text not null',
    added_at: 'timestamptz not null',
    previous_address: 'text',
  }
  await ensureTable(db, 'postern_new_sign_in_methods', columns, ['primary key (user_id, method)'])
}
