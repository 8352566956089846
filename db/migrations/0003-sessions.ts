/** Sessions, their authentication methods, and refresh tokens of older sessions. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await sessions(db)
  await refreshTokens(db)
  await amrClaims(db)
}

async function sessions(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'sessions', {
    id: 'uuid not null primary key',
    user_id: 'uuid not null references users (id) on delete cascade',
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
    scopes: 'text check (char_length(scopes) <= 4096)',
  })
  await ensureIndexes(db, [
    'create index if not exists sessions_user_id_idx on sessions (user_id)',
    'create index if not exists user_id_created_at_idx on sessions (user_id, created_at)',
    'create index if not exists sessions_not_after_idx on sessions (not_after desc)',
    'create index if not exists sessions_oauth_client_id_idx on sessions (oauth_client_id)',
  ])
}

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
      session_id: 'uuid not null references sessions (id) on delete cascade',
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
