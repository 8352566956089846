/** Exchanged auth codes and their sessions, for the time in which reuse is detected. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_consumed_codes', {
    code_hash: 'text primary key',
    session_id: 'uuid not null references sessions (id) on delete cascade',
    code_challenge: 'text not null',
    code_challenge_method: 'text not null',
    consumed_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_consumed_codes_session_id_idx
      on postern_consumed_codes (session_id)`,
    `create index if not exists postern_consumed_codes_consumed_at_idx
      on postern_consumed_codes (consumed_at)`,
  ])
}
