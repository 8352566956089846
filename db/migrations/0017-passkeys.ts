/** Sessions of passkey registrations, and recovery codes, for which GoTrue has no tables. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await challenges(db)
  await recoveryCodes(db)
}

/** For registrations only: an authentication has no session yet. */
async function challenges(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_passkey_challenges', {
    challenge_id: 'uuid primary key references webauthn_challenges (id) on delete cascade',
    session_id: 'uuid not null references sessions (id) on delete cascade',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_passkey_challenges_session_idx
      on postern_passkey_challenges (session_id)`,
  ])
}

/** `code_hash` is keyed; a consumed code has no row. */
async function recoveryCodes(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_recovery_codes',
    {
      user_id: 'uuid not null references users (id) on delete cascade',
      code_hash: 'text not null',
      created_at: 'timestamptz not null',
    },
    ['primary key (user_id, code_hash)'],
  )
}
