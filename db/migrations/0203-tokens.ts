/** One-time tokens, the state of sign-ins in a browser, and tokens of services. */
import { sql } from 'kysely'

import { ensureEnum, ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureEnum(db, 'one_time_token_type', [
    'confirmation_token',
    'reauthentication_token',
    'recovery_token',
    'email_change_token_new',
    'email_change_token_current',
    'phone_change_token',
  ])
  await oneTimeTokens(db)
  await tokenDetails(db)
  await dummyTokens(db)
  await flowState(db)
  await flowDetails(db)
  await otherTokens(db)
}

/** `expires_at` is of GoTrue's release 2.197. */
async function oneTimeTokens(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'one_time_tokens', {
    id: 'uuid not null primary key',
    user_id: 'uuid not null references users (id) on delete cascade',
    token_type: 'one_time_token_type not null',
    token_hash: 'text not null check (char_length(token_hash) > 0)',
    relates_to: 'text not null',
    created_at: 'timestamp not null default now()',
    updated_at: 'timestamp not null default now()',
    expires_at: 'timestamptz',
  })
  await ensureIndexes(db, [
    `create unique index if not exists one_time_tokens_user_id_token_type_key
      on one_time_tokens (user_id, token_type)`,
    `create index if not exists one_time_tokens_token_hash_hash_idx
      on one_time_tokens using hash (token_hash)`,
    `create index if not exists one_time_tokens_relates_to_hash_idx
      on one_time_tokens using hash (relates_to)`,
  ])
}

/**
 * A token of GoTrue's gets a row, without an expiry, at the first attempt. `purpose` is what a token was sent for: GoTrue
 * has one type for the recovery of a password and for a sign-in. `made_by` is the admin who got the link.
 */
async function tokenDetails(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_one_time_tokens', {
    token_id: 'uuid primary key references one_time_tokens (id) on delete cascade',
    expires_at: 'timestamptz',
    failed_attempts: 'smallint not null default 0',
    purpose: 'text',
    made_by: 'uuid',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_one_time_tokens_made_by_idx
      on postern_one_time_tokens (made_by) where made_by is not null`,
  ])
}

/** As db/tokens/attempts.ts numbers them. */
const dummies = 1024

/** Rows that equalize the writes of failed attempts. */
async function dummyTokens(db: MigrationDb): Promise<void> {
  const isNew = await ensureTable(db, 'postern_decoy_tokens', {
    slot: 'smallint primary key',
    failed_attempts: 'bigint not null default 0',
  })
  if (!isNew) return
  await sql`alter table postern_decoy_tokens set (fillfactor = 50)`.execute(db)
  await sql`insert into postern_decoy_tokens (slot)
    select generate_series(0, ${sql.lit(dummies - 1)})`.execute(db)
}

/** The states of clients have the PKCE verifiers of sign-ins in which this server is the client. */
async function flowState(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'flow_state', {
    id: 'uuid not null primary key',
    user_id: 'uuid',
    auth_code: 'text',
    code_challenge_method: 'code_challenge_method',
    code_challenge: 'text',
    provider_type: 'text not null',
    provider_access_token: "text default ''",
    provider_refresh_token: "text default ''",
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    authentication_method: 'text not null',
    auth_code_issued_at: 'timestamptz',
    invite_token: 'text',
    referrer: 'text',
    oauth_client_state_id: 'uuid',
    linking_target_id: 'uuid',
    email_optional: 'boolean not null default false',
  })
  await ensureTable(db, 'oauth_client_states', {
    id: 'uuid not null primary key',
    provider_type: 'text not null',
    code_verifier: 'text',
    created_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    'create index if not exists idx_auth_code on flow_state (auth_code)',
    `create index if not exists idx_user_id_auth_method
      on flow_state (user_id, authentication_method)`,
    'create index if not exists flow_state_created_at_idx on flow_state (created_at desc)',
    'create index if not exists idx_oauth_client_states_created_at on oauth_client_states (created_at)',
  ])
}

/**
 * A flow whose session has ended stays marked as ours, so that it is not taken for GoTrue's. Exchanged codes are kept
 * for the time in which reuse is detected.
 */
async function flowDetails(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_flows', {
    flow_id: 'uuid primary key references flow_state (id) on delete cascade',
    session_id: 'uuid references sessions (id) on delete set null',
    secrets: 'text',
  })
  await ensureTable(db, 'postern_consumed_codes', {
    code_hash: 'text primary key',
    session_id: 'uuid not null references sessions (id) on delete cascade',
    code_challenge: 'text not null',
    code_challenge_method: 'text not null',
    consumed_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    'create index if not exists postern_flows_session_id_idx on postern_flows (session_id)',
    `create index if not exists postern_consumed_codes_session_id_idx
      on postern_consumed_codes (session_id)`,
    `create index if not exists postern_consumed_codes_consumed_at_idx
      on postern_consumed_codes (consumed_at)`,
  ])
}

/**
 * Issued service tokens by `jti` (RFC 7519 §4.1.7), and revoked ones; keys of signed messages and assertions that were
 * accepted, to reject replays until they expire.
 */
async function otherTokens(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_api_tokens', {
    jti: 'text primary key',
    kid: 'text',
    role: 'text',
    sub: 'text',
    created_at: 'timestamptz not null',
    expires_at: 'timestamptz',
    revoked_at: 'timestamptz',
  })
  await ensureTable(db, 'postern_replays', {
    key: 'text primary key',
    expires_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    'create index if not exists postern_replays_expires_at_idx on postern_replays (expires_at)',
  ])
}
