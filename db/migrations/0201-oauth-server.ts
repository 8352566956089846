/** The OAuth server: clients, authorization requests, consents, and details for which GoTrue has no columns. */
import {
  ensureEnum,
  ensureIndexes,
  ensureTable,
  type MigrationDb,
  maximumLengths,
} from './ensure.ts'

const ofClient = 'uuid not null references oauth_clients (id) on delete cascade'

/** How the user was authenticated. Without a foreign key: a code is valid for at most a minute. */
const authentication = {
  session_id: 'uuid',
  auth_time: 'timestamptz',
  aal: 'aal_level',
  amr: 'text[]',
}

export async function up(db: MigrationDb): Promise<void> {
  await ensureEnum(db, 'oauth_registration_type', ['dynamic', 'manual'])
  await ensureEnum(db, 'oauth_client_type', ['public', 'confidential'])
  await ensureEnum(db, 'oauth_response_type', ['code'])
  await ensureEnum(db, 'oauth_authorization_status', ['pending', 'approved', 'denied', 'expired'])
  await clients(db)
  await authorizations(db)
  await consents(db)
  await clientDetails(db)
  await requests(db)
  await deviceCodes(db)
}

async function clients(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'oauth_clients',
    {
      id: 'uuid not null primary key',
      client_secret_hash: 'text',
      registration_type: 'oauth_registration_type not null',
      redirect_uris: 'text not null',
      grant_types: 'text not null',
      client_name: 'text',
      client_uri: 'text',
      logo_uri: 'text',
      created_at: 'timestamptz not null default now()',
      updated_at: 'timestamptz not null default now()',
      deleted_at: 'timestamptz',
      client_type: "oauth_client_type not null default 'confidential'",
      token_endpoint_auth_method: `text not null default 'client_secret_basic'
        check (token_endpoint_auth_method in ('client_secret_basic', 'client_secret_post', 'none'))`,
    },
    maximumLengths('oauth_clients', { client_name: 1024, client_uri: 2048, logo_uri: 2048 }),
  )
  await ensureIndexes(db, [
    'create index if not exists oauth_clients_deleted_at_idx on oauth_clients (deleted_at)',
  ])
}

async function authorizations(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'oauth_authorizations',
    {
      id: 'uuid not null primary key',
      authorization_id: 'text not null unique',
      client_id: ofClient,
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
    },
    [
      ...maximumLengths('oauth_authorizations', {
        authorization_code: 255,
        code_challenge: 128,
        nonce: 255,
        redirect_uri: 2048,
        resource: 2048,
        scope: 4096,
        state: 4096,
      }),
      'constraint oauth_authorizations_expires_at_future check (expires_at > created_at)',
    ],
  )
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
      client_id: ofClient,
      scopes: 'text not null',
      granted_at: 'timestamptz not null default now()',
      revoked_at: 'timestamptz',
    },
    [
      'constraint oauth_consents_user_client_unique unique (user_id, client_id)',
      ...maximumLengths('oauth_consents', { scopes: 2048 }),
      'constraint oauth_consents_scopes_not_empty check (char_length(trim(scopes)) > 0)',
      `constraint oauth_consents_revoked_after_granted
        check (revoked_at is null or revoked_at >= granted_at)`,
    ],
  )
  await ensureIndexes(db, [
    `create index if not exists oauth_consents_active_client_idx on oauth_consents (client_id)
      where revoked_at is null`,
    `create index if not exists oauth_consents_active_user_client_idx
      on oauth_consents (user_id, client_id) where revoked_at is null`,
    `create index if not exists oauth_consents_user_order_idx
      on oauth_consents (user_id, granted_at desc)`,
  ])
}

/** The hash finds the row of a client that registers itself again with the same metadata. */
async function clientDetails(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_oauth_clients', {
    client_id: 'uuid primary key references oauth_clients (id) on delete cascade',
    settings: "jsonb not null default '{}'",
    document_url: 'text unique',
    document_expires_at: 'timestamptz',
    reconsent_after: 'timestamptz',
    registration_token_hash: 'text',
    last_used_at: 'timestamptz',
    metadata_hash: 'text',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_oauth_clients_metadata_hash_idx
      on postern_oauth_clients (metadata_hash) where metadata_hash is not null`,
  ])
}

async function requests(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_oauth_requests', {
    id: 'uuid primary key references oauth_authorizations (id) on delete cascade',
    parameters: "jsonb not null default '{}'",
    ...authentication,
    code_expires_at: 'timestamptz',
    consumed_at: 'timestamptz',
    issued_session_id: 'uuid',
  })
  await ensureTable(db, 'postern_oauth_pushed_requests', {
    id: 'text primary key',
    client_id: ofClient,
    parameters: 'jsonb not null',
    created_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_oauth_pushed_requests_client_id_idx
      on postern_oauth_pushed_requests (client_id)`,
    `create index if not exists postern_oauth_pushed_requests_expires_at_idx
      on postern_oauth_pushed_requests (expires_at)`,
  ])
}

async function deviceCodes(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_oauth_device_codes', {
    id: 'text primary key',
    user_code: 'text not null unique',
    client_id: ofClient,
    scope: 'text not null',
    resources: "text[] not null default '{}'",
    status: "text not null default 'pending' check (status in ('pending', 'approved', 'denied'))",
    user_id: 'uuid references users (id) on delete cascade',
    ...authentication,
    interval_seconds: 'integer not null',
    last_polled_at: 'timestamptz',
    created_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_oauth_device_codes_client_id_idx
      on postern_oauth_device_codes (client_id)`,
    `create index if not exists postern_oauth_device_codes_user_id_idx
      on postern_oauth_device_codes (user_id)`,
    `create index if not exists postern_oauth_device_codes_expires_at_idx
      on postern_oauth_device_codes (expires_at)`,
  ])
}
