/** One-time tokens, and the state of sign-ins in a browser. */
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
  await flowState(db)
  await oauthClientStates(db)
}

async function oneTimeTokens(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'one_time_tokens', {
    id: 'uuid not null primary key',
    user_id: 'uuid not null references users (id) on delete cascade',
    token_type: 'one_time_token_type not null',
    token_hash: 'text not null check (char_length(token_hash) > 0)',
    relates_to: 'text not null',
    created_at: 'timestamp not null default now()',
    updated_at: 'timestamp not null default now()',
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
  await ensureIndexes(db, [
    'create index if not exists idx_auth_code on flow_state (auth_code)',
    `create index if not exists idx_user_id_auth_method
      on flow_state (user_id, authentication_method)`,
    'create index if not exists flow_state_created_at_idx on flow_state (created_at desc)',
  ])
}

/** PKCE verifiers of sign-ins in which this server is the client. */
async function oauthClientStates(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'oauth_client_states', {
    id: 'uuid not null primary key',
    provider_type: 'text not null',
    code_verifier: 'text',
    created_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    'create index if not exists idx_oauth_client_states_created_at on oauth_client_states (created_at)',
  ])
}
