/** Second factors, passkeys and recovery codes. */
import {
  ensureEnum,
  ensureIndexes,
  ensureRowLevelSecurity,
  ensureTable,
  type MigrationDb,
} from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureEnum(db, 'factor_status', ['unverified', 'verified'])
  await ensureEnum(db, 'factor_type', ['totp', 'webauthn', 'phone', 'recovery_code'])
  await factors(db)
  await challenges(db)
  await passkeys(db)
  await passkeyChallenges(db)
  await recoveryCodes(db)
  await recoveryCodeDetails(db)
}

/**
 * Only the session `enrolled_in` may verify the factor; it is no foreign key, because the end of the session must not
 * open the factor to all others. `last_step` is the last time step with an accepted code.
 */
async function factors(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'mfa_factors', {
    id: 'uuid not null primary key',
    user_id: 'uuid not null references users (id) on delete cascade',
    friendly_name: "text default ''",
    factor_type: 'factor_type not null',
    status: 'factor_status not null',
    created_at: 'timestamptz not null',
    updated_at: 'timestamptz not null',
    secret: "text default ''",
    phone: 'text',
    last_challenged_at: 'timestamptz unique',
    web_authn_credential: 'jsonb',
    web_authn_aaguid: 'uuid',
    last_webauthn_challenge_data: 'jsonb',
  })
  await ensureTable(db, 'postern_factors', {
    factor_id: 'uuid primary key references mfa_factors (id) on delete cascade',
    enrolled_in: 'uuid',
    last_step: 'bigint',
  })
  await ensureIndexes(db, [
    'create index if not exists mfa_factors_user_id_idx on mfa_factors (user_id)',
    'create index if not exists factor_id_created_at_idx on mfa_factors (user_id, created_at)',
    `create unique index if not exists mfa_factors_user_friendly_name_unique
      on mfa_factors (friendly_name, user_id) where trim(friendly_name) <> ''`,
    `create unique index if not exists unique_phone_factor_per_user
      on mfa_factors (user_id, phone)`,
  ])
}

/**
 * `ceremony` and `challenge` are set for WebAuthn factors. A challenge whose session has ended stays marked as ours, so
 * that it is not taken for GoTrue's.
 */
async function challenges(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'mfa_challenges', {
    id: 'uuid not null primary key',
    factor_id: `uuid not null constraint mfa_challenges_auth_factor_id_fkey
      references mfa_factors (id) on delete cascade`,
    created_at: 'timestamptz not null',
    verified_at: 'timestamptz',
    ip_address: 'inet not null',
    otp_code: "text default ''",
    web_authn_session_data: 'jsonb',
  })
  await ensureTable(db, 'postern_factor_challenges', {
    challenge_id: 'uuid primary key references mfa_challenges (id) on delete cascade',
    session_id: 'uuid references sessions (id) on delete set null',
    ceremony: "text check (ceremony in ('create', 'request'))",
    challenge: 'text',
  })
  await ensureIndexes(db, [
    'create index if not exists mfa_challenge_created_at_idx on mfa_challenges (created_at desc)',
    `create index if not exists postern_factor_challenges_session_idx
      on postern_factor_challenges (session_id)`,
  ])
}

/** GoTrue has an index instead of a unique constraint. */
async function passkeys(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'webauthn_credentials', {
    id: 'uuid not null default gen_random_uuid() primary key',
    user_id: 'uuid not null references users (id) on delete cascade',
    credential_id: 'bytea not null',
    public_key: 'bytea not null',
    attestation_type: "text not null default ''",
    aaguid: 'uuid',
    sign_count: 'bigint not null default 0',
    transports: "jsonb not null default '[]'",
    backup_eligible: 'boolean not null default false',
    backed_up: 'boolean not null default false',
    friendly_name: "text not null default ''",
    created_at: 'timestamptz not null default now()',
    updated_at: 'timestamptz not null default now()',
    last_used_at: 'timestamptz',
  })
  await ensureIndexes(db, [
    `create unique index if not exists webauthn_credentials_credential_id_key
      on webauthn_credentials (credential_id)`,
    'create index if not exists webauthn_credentials_user_id_idx on webauthn_credentials (user_id)',
  ])
}

/** Only registrations have a session: an authentication has none yet. */
async function passkeyChallenges(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'webauthn_challenges', {
    id: 'uuid not null default gen_random_uuid() primary key',
    user_id: 'uuid references users (id) on delete cascade',
    challenge_type:
      "text not null check (challenge_type in ('signup', 'registration', 'authentication'))",
    session_data: 'jsonb not null',
    created_at: 'timestamptz not null default now()',
    expires_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_passkey_challenges', {
    challenge_id: 'uuid primary key references webauthn_challenges (id) on delete cascade',
    session_id: 'uuid references sessions (id) on delete set null',
  })
  await ensureIndexes(db, [
    'create index if not exists webauthn_challenges_user_id_idx on webauthn_challenges (user_id)',
    'create index if not exists webauthn_challenges_expires_at_idx on webauthn_challenges (expires_at)',
    `create index if not exists postern_passkey_challenges_session_idx
      on postern_passkey_challenges (session_id)`,
  ])
}

/** Of GoTrue's release 2.197, which creates the tables without row-level security. */
async function recoveryCodes(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'mfa_recovery_code_sets', {
    id: 'uuid not null primary key',
    user_id: 'uuid not null unique references users (id) on delete cascade',
    mfa_factor_id: 'uuid not null unique references mfa_factors (id) on delete cascade',
    failed_verification_count: 'integer not null default 0 check (failed_verification_count >= 0)',
    verification_locked_until: 'timestamptz',
    created_at: 'timestamptz not null default now()',
    updated_at: 'timestamptz not null default now()',
  })
  await ensureTable(db, 'mfa_recovery_codes', {
    id: 'uuid not null primary key',
    mfa_recovery_code_set_id:
      'uuid not null references mfa_recovery_code_sets (id) on delete cascade',
    code_hash: 'text not null',
    consumed_at: 'timestamptz',
    created_at: 'timestamptz not null default now()',
  })
  await ensureIndexes(db, [
    `create index if not exists mfa_recovery_codes_set_id_idx
      on mfa_recovery_codes (mfa_recovery_code_set_id)`,
  ])
  for (const table of ['mfa_recovery_code_sets', 'mfa_recovery_codes']) {
    await ensureRowLevelSecurity(db, table)
  }
}

/**
 * A keyed digest next to each code avoids the slow hash at verification. `postern_recovery_codes` is empty: codes were
 * stored there before they became a factor.
 */
async function recoveryCodeDetails(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_recovery_code_digests', {
    code_id: 'uuid primary key references mfa_recovery_codes (id) on delete cascade',
    digest: 'text not null',
    key_id: 'text',
    is_early: 'boolean not null default false',
  })
  await ensureTable(
    db,
    'postern_recovery_codes',
    {
      user_id: 'uuid not null references users (id) on delete cascade',
      code_hash: 'text not null',
      created_at: 'timestamptz not null',
      key_id: 'text',
    },
    ['primary key (user_id, code_hash)'],
  )
}
