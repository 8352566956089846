/** Details of factors and challenges for which GoTrue has no columns. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await factors(db)
  await challenges(db)
}

/**
 * Only the session `enrolled_in` may verify the factor; it is no foreign key, because the end of the session must not
 * open the factor to all others. `last_step` is the last time step with an accepted code.
 */
async function factors(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_factors', {
    factor_id: 'uuid primary key references mfa_factors (id) on delete cascade',
    enrolled_in: 'uuid',
    last_step: 'bigint',
  })
}

/** `ceremony` and `challenge` are set for WebAuthn factors. */
async function challenges(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_factor_challenges', {
    challenge_id: 'uuid primary key references mfa_challenges (id) on delete cascade',
    session_id: 'uuid not null references sessions (id) on delete cascade',
    ceremony: "text check (ceremony in ('create', 'request'))",
    challenge: 'text',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_factor_challenges_session_idx
      on postern_factor_challenges (session_id)`,
  ])
}
