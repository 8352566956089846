/** Factors and passkeys. */
import { ensureEnum, ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureEnum(db, 'factor_status', ['unverified', 'verified'])
  await ensureEnum(db, 'factor_type', ['totp', 'webauthn', 'phone'])
  await factors(db)
  await challenges(db)
  await passkeys(db)
  await passkeyChallenges(db)
}

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
  await ensureIndexes(db, [
    'create index if not exists mfa_factors_user_id_idx on mfa_factors (user_id)',
    'create index if not exists factor_id_created_at_idx on mfa_factors (user_id, created_at)',
    `create unique index if not exists mfa_factors_user_friendly_name_unique
      on mfa_factors (friendly_name, user_id) where trim(friendly_name) <> ''`,
    `create unique index if not exists unique_phone_factor_per_user
      on mfa_factors (user_id, phone)`,
  ])
}

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
  await ensureIndexes(db, [
    'create index if not exists mfa_challenge_created_at_idx on mfa_challenges (created_at desc)',
  ])
}

async function passkeys(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'webauthn_credentials', {
    id: 'uuid not null default gen_random_uuid() primary key',
    user_id: 'uuid not null references users (id) on delete cascade',
    credential_id: 'bytea not null unique',
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
    'create index if not exists webauthn_credentials_user_id_idx on webauthn_credentials (user_id)',
  ])
}

async function passkeyChallenges(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'webauthn_challenges', {
    id: 'uuid not null default gen_random_uuid() primary key',
    user_id: 'uuid references users (id) on delete cascade',
    challenge_type: 'text not null',
    session_data: 'jsonb not null',
    created_at: 'timestamptz not null default now()',
    expires_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    'create index if not exists webauthn_challenges_user_id_idx on webauthn_challenges (user_id)',
    'create index if not exists webauthn_challenges_expires_at_idx on webauthn_challenges (expires_at)',
  ])
}
