/** Details of the OAuth server for which GoTrue has no columns, and the sessions of the hosted pages. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

const client = 'uuid not null references oauth_clients (id) on delete cascade'
const session = 'uuid primary key references sessions (id) on delete cascade'

/** How the user was authenticated. Without a foreign key: a code is valid for at most a minute. */
const authentication = {
  session_id: 'uuid',
  auth_time: 'timestamptz',
  aal: 'aal_level',
  amr: 'text[]',
}

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_oauth_clients', {
    client_id: 'uuid primary key references oauth_clients (id) on delete cascade',
    settings: "jsonb not null default '{}'",
    document_url: 'text unique',
    document_expires_at: 'timestamptz',
    reconsent_after: 'timestamptz',
    registration_token_hash: 'text',
    last_used_at: 'timestamptz',
  })
  await requests(db)
  await ensureTable(db, 'postern_oauth_sessions', {
    session_id: session,
    resources: "text[] not null default '{}'",
    auth_time: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_page_sessions', {
    id: 'text primary key',
    session_id: 'uuid not null references sessions (id) on delete cascade',
    created_at: 'timestamptz not null',
    last_used_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
  })
  await indexes(db)
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
    client_id: client,
    parameters: 'jsonb not null',
    created_at: 'timestamptz not null',
    expires_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_oauth_device_codes', {
    id: 'text primary key',
    user_code: 'text not null unique',
    client_id: client,
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
}

async function indexes(db: MigrationDb): Promise<void> {
  const of = (table: string, column: string) =>
    `create index if not exists ${table}_${column}_idx on ${table} (${column})`
  await ensureIndexes(db, [
    of('postern_page_sessions', 'session_id'),
    of('postern_page_sessions', 'expires_at'),
    of('postern_oauth_pushed_requests', 'client_id'),
    of('postern_oauth_pushed_requests', 'expires_at'),
    of('postern_oauth_device_codes', 'client_id'),
    of('postern_oauth_device_codes', 'user_id'),
    of('postern_oauth_device_codes', 'expires_at'),
  ])
}
