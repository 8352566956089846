/** The OAuth server: clients, authorization requests, consents. */
import { ensureEnum, ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureEnum(db, 'oauth_registration_type', ['dynamic', 'manual'])
  await ensureEnum(db, 'oauth_client_type', ['public', 'confidential'])
  await ensureEnum(db, 'oauth_response_type', ['code'])
  await ensureEnum(db, 'oauth_authorization_status', ['pending', 'approved', 'denied', 'expired'])
  await clients(db)
  await authorizations(db)
  await consents(db)
}

async function clients(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'oauth_clients', {
    id: 'uuid not null primary key',
    client_secret_hash: 'text',
    registration_type: 'oauth_registration_type not null',
    redirect_uris: 'text not null',
    grant_types: 'text not null',
    client_name: 'text check (char_length(client_name) <= 1024)',
    client_uri: 'text check (char_length(client_uri) <= 2048)',
    logo_uri: 'text check (char_length(logo_uri) <= 2048)',
    created_at: 'timestamptz not null default now()',
    updated_at: 'timestamptz not null default now()',
    deleted_at: 'timestamptz',
    client_type: "oauth_client_type not null default 'confidential'",
    token_endpoint_auth_method: `text not null default 'client_secret_basic'
      check (token_endpoint_auth_method in ('client_secret_basic', 'client_secret_post', 'none'))`,
  })
  await ensureIndexes(db, [
    'create index if not exists oauth_clients_deleted_at_idx on oauth_clients (deleted_at)',
  ])
}

async function authorizations(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'oauth_authorizations', {
    id: 'uuid not null primary key',
    authorization_id: 'text not null unique',
    client_id: 'uuid not null references oauth_clients (id) on delete cascade',
    user_id: 'uuid references users (id) on delete cascade',
    redirect_uri: 'text not null',
    scope: 'text not null',
    state: 'text',
    resource: 'text',
    code_challenge: 'text',
    code_challenge_method: 'code_challenge_method',
    response_type: "oauth_response_type not null default 'code'",
    status: "oauth_authorization_status not null default 'pending'",
    authorization_code: 'text unique',
    created_at: 'timestamptz not null default now()',
    expires_at: "timestamptz not null default now() + interval '3 minutes'",
    approved_at: 'timestamptz',
    nonce: 'text',
  })
  await ensureIndexes(db, [
    `create index if not exists oauth_auth_pending_exp_idx on oauth_authorizations (expires_at)
      where status = 'pending'`,
  ])
}

async function consents(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'oauth_consents',
    {
      id: 'uuid not null primary key',
      user_id: 'uuid not null references users (id) on delete cascade',
      client_id: 'uuid not null references oauth_clients (id) on delete cascade',
      scopes: 'text not null',
      granted_at: 'timestamptz not null default now()',
      revoked_at: 'timestamptz',
    },
    ['constraint oauth_consents_user_client_unique unique (user_id, client_id)'],
  )
}
