/** Sessions, their authentication methods and refresh tokens, the devices of users, and sessions of the hosted pages. */
import { ensureFillfactor, ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

const ofUser = 'uuid not null references users (id) on delete cascade'
const ofSession = 'uuid not null references sessions (id) on delete cascade'
const oneOfSession = 'uuid primary key references sessions (id) on delete cascade'

export async function up(db: MigrationDb): Promise<void> {
  await sessions(db)
  await refreshTokens(db)
  await amrClaims(db)
  await details(db)
  await devices(db)
  await pages(db)
}

async function sessions(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'sessions', {
    id: 'uuid not null primary key',
    user_id: ofUser,
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    factor_id: 'uuid',
    aal: 'aal_level',
    not_after: 'timestamptz',
    refreshed_at: 'timestamp',
    user_agent: 'text',
    ip: 'inet',
    tag: 'text',
    oauth_client_id: 'uuid references oauth_clients (id) on delete cascade',
    refresh_token_hmac_key: 'text',
    refresh_token_counter: 'bigint',
    scopes: 'text constraint sessions_scopes_length check (char_length(scopes) <= 4096)',
  })
  await ensureIndexes(db, [
    'create index if not exists sessions_user_id_idx on sessions (user_id)',
    'create index if not exists user_id_created_at_idx on sessions (user_id, created_at)',
    'create index if not exists sessions_not_after_idx on sessions (not_after desc)',
    'create index if not exists sessions_oauth_client_id_idx on sessions (oauth_client_id)',
  ])
  await ensureFillfactor(db, 'sessions', 85)
}

/** Those of GoTrue's older sessions. */
async function refreshTokens(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'refresh_tokens', {
    instance_id: 'uuid',
    id: 'bigserial primary key',
    token: 'varchar(255) constraint refresh_tokens_token_unique unique',
    user_id: 'varchar(255)',
    revoked: 'boolean',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    parent: "varchar(255) default ''",
    session_id: 'uuid references sessions (id) on delete cascade',
  })
  await ensureIndexes(db, [
    'create index if not exists refresh_tokens_instance_id_idx on refresh_tokens (instance_id)',
    `create index if not exists refresh_tokens_instance_id_user_id_idx
      on refresh_tokens (instance_id, user_id)`,
    'create index if not exists refresh_tokens_parent_idx on refresh_tokens (parent)',
    `create index if not exists refresh_tokens_session_id_revoked_idx
      on refresh_tokens (session_id, revoked)`,
    'create index if not exists refresh_tokens_updated_at_idx on refresh_tokens (updated_at desc)',
  ])
}

/** GoTrue's upsert refers to the constraint by this name. */
async function amrClaims(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'mfa_amr_claims',
    {
      session_id: ofSession,
      created_at: 'timestamptz not null',
      updated_at: 'timestamptz not null',
      authentication_method: 'text not null',
      id: 'uuid not null constraint amr_id_pk primary key',
    },
    [
      `constraint mfa_amr_claims_session_id_authentication_method_pkey
        unique (session_id, authentication_method)`,
    ],
  )
}

/** How a session was authenticated beyond GoTrue's amr, and who began it. GoTrue must not find columns of ours. */
async function details(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_impersonations', {
    session_id: oneOfSession,
    impersonated_by: 'text not null',
  })
  await ensureTable(db, 'postern_session_proofs', {
    session_id: oneOfSession,
    by_sms: 'boolean not null default false',
    reauthenticated_at: 'timestamptz',
    asks_email_change: 'boolean not null default false',
  })
  // The claims are the single ones that the request of an OAuth client named for the userinfo endpoint.
  await ensureTable(db, 'postern_oauth_sessions', {
    session_id: oneOfSession,
    resources: "text[] not null default '{}'",
    auth_time: 'timestamptz not null',
    userinfo_claims: "text[] not null default '{}'",
  })
}

/** Devices that users signed in from: for throttles, and for notifications of new ones. */
async function devices(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_known_devices',
    { user_id: ofUser, device_hash: 'text not null', last_used_at: 'timestamptz not null' },
    ['primary key (user_id, device_hash)'],
  )
  await ensureTable(
    db,
    'postern_sign_in_devices',
    { user_id: ofUser, device: 'text not null', last_used_at: 'timestamptz not null' },
    ['primary key (user_id, device)'],
  )
  await ensureIndexes(db, [
    `create index if not exists postern_known_devices_last_used_at_idx
      on postern_known_devices (last_used_at)`,
    `create index if not exists postern_sign_in_devices_last_used_at_idx
      on postern_sign_in_devices (last_used_at)`,
  ])
}

/** Answers of submitted forms are kept for a second submission. The number of their rows is fixed. */
async function pages(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_page_sessions', {
    id: 'text primary key',
    session_id: ofSession,
    created_at: 'timestamptz not null',
    last_used_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_page_submissions', {
    slot: 'integer primary key',
    id: 'text not null',
    answer: 'text',
    expires_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_page_sessions_session_id_idx
      on postern_page_sessions (session_id)`,
    `create index if not exists postern_page_sessions_expires_at_idx
      on postern_page_sessions (expires_at)`,
    `create index if not exists postern_page_submissions_expires_at_idx
      on postern_page_submissions (expires_at)`,
  ])
}
