/** Users, groups and tokens of SCIM connections, and the roles of group members. GoTrue's tables have users and tokens. */
import { sql } from 'kysely'

import { ensureIndexes, ensureRowLevelSecurity, ensureTable, type MigrationDb } from './ensure.ts'

const ofProvider = 'uuid not null references sso_providers (id) on delete cascade'
const ofConnection =
  'uuid not null references postern_scim_connections (sso_provider_id) on delete cascade'
const times = { created_at: 'timestamptz not null', updated_at: 'timestamptz not null' }

export async function up(db: MigrationDb): Promise<void> {
  await users(db)
  await tokens(db)
  // GoTrue creates the tables without: a role with a grant on one could read its rows.
  await ensureRowLevelSecurity(db, 'scim_users')
  await ensureRowLevelSecurity(db, 'scim_tokens')
  await connections(db)
  await groups(db)
  await dropUniqueExternalIds(db)
  await deactivations(db)
}

/** Of GoTrue's release 2.197. */
async function users(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'scim_users', {
    id: 'uuid not null primary key',
    sso_provider_id: ofProvider,
    user_id: 'uuid references users (id) on delete set null',
    resource: 'jsonb not null',
    user_name: `text not null generated always as (lower(resource ->> 'userName')) stored`,
    external_id: `text generated always as (resource ->> 'externalId') stored`,
    active: `boolean not null
      generated always as (coalesce((resource ->> 'active')::boolean, true)) stored`,
    created_at: 'timestamptz not null default now()',
    updated_at: 'timestamptz not null default now()',
    deleted_at: 'timestamptz',
  })
  const live = 'where deleted_at is null'
  await ensureIndexes(db, [
    `create unique index if not exists scim_users_user_name_key
      on scim_users (sso_provider_id, user_name) ${live}`,
    `create index if not exists postern_scim_users_external_id_idx
      on scim_users (sso_provider_id, external_id) ${live}`,
    ...['sso_provider_id', 'user_id', 'deleted_at'].map(
      (column) => `create index if not exists scim_users_${column}_idx on scim_users (${column})`,
    ),
    `create index if not exists scim_users_id_idx on scim_users (sso_provider_id, id) ${live}`,
    `create index if not exists scim_users_created_at_idx
      on scim_users (sso_provider_id, created_at, id) ${live}`,
    `create index if not exists scim_users_updated_at_idx
      on scim_users (sso_provider_id, updated_at, id) ${live}`,
    `create index if not exists scim_users_user_name_idx
      on scim_users (sso_provider_id, user_name collate "C", id) ${live}`,
  ])
}

/** Of GoTrue's release 2.197. */
async function tokens(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'scim_tokens', {
    id: 'uuid not null primary key',
    sso_provider_id: ofProvider,
    token_hash: `text not null unique check (token_hash ~ '^[0-9a-f]{64}$')`,
    prefix: 'text not null',
    created_at: 'timestamptz not null default now()',
    expires_at: 'timestamptz check (expires_at > created_at)',
    revoked_at: 'timestamptz check (revoked_at >= created_at)',
    last_used_at: 'timestamptz',
  })
  await ensureIndexes(
    db,
    ['sso_provider_id', 'expires_at', 'revoked_at'].map(
      (column) => `create index if not exists scim_tokens_${column}_idx on scim_tokens (${column})`,
    ),
  )
}

async function connections(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_scim_connections', {
    sso_provider_id: 'uuid primary key references sso_providers (id) on delete cascade',
    organization_id: 'uuid references postern_organizations (id) on delete cascade',
    name: 'text not null',
    default_role: "text not null default 'member'",
    enabled: 'boolean not null default true',
    ...times,
  })
  await ensureTable(db, 'postern_scim_tokens', {
    token_id: 'uuid primary key references scim_tokens (id) on delete cascade',
    name: 'text not null',
  })
  await ensureTable(db, 'postern_scim_accounts', {
    scim_user_id: 'uuid primary key references scim_users (id) on delete cascade',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_scim_connections_organization_idx
      on postern_scim_connections (organization_id)`,
  ])
}

async function groups(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_scim_groups', {
    id: 'uuid primary key',
    sso_provider_id: ofConnection,
    resource: 'jsonb not null',
    display_name: `text not null generated always as (lower(resource ->> 'displayName')) stored`,
    external_id: `text generated always as (resource ->> 'externalId') stored`,
    ...times,
  })
  await ensureTable(
    db,
    'postern_scim_group_members',
    {
      group_id: 'uuid not null references postern_scim_groups (id) on delete cascade',
      scim_user_id: 'uuid not null references scim_users (id) on delete cascade',
    },
    ['primary key (group_id, scim_user_id)'],
  )
  await ensureTable(
    db,
    'postern_scim_role_mappings',
    {
      sso_provider_id: ofConnection,
      group_name: 'text not null',
      role: 'text not null',
      priority: 'integer not null',
    },
    ['primary key (sso_provider_id, group_name)'],
  )
  await ensureIndexes(db, groupIndexes)
}

const groupIndexes = [
  `create unique index if not exists postern_scim_groups_name_key
    on postern_scim_groups (sso_provider_id, display_name)`,
  `create index if not exists postern_scim_groups_external_id_idx
    on postern_scim_groups (sso_provider_id, external_id)`,
  `create index if not exists postern_scim_groups_created_at_idx
    on postern_scim_groups (sso_provider_id, created_at, id)`,
  `create index if not exists postern_scim_group_members_user_idx
    on postern_scim_group_members (scim_user_id)`,
]

/**
 * `externalId` of a SCIM resource is not unique (RFC 7643 §3.1): only the client interprets it. GoTrue 2.197 creates the
 * index of its users as a unique one, and has no endpoint that relies on it.
 */
async function dropUniqueExternalIds(db: MigrationDb): Promise<void> {
  const unique = ['scim_users_external_id_key', 'postern_scim_groups_external_id_key']
  const { rows } = await sql<{ name: string }>`
    select indexrelid::regclass::text as name from pg_index join pg_class on pg_class.oid = indexrelid
    where relname in (${sql.join(unique)}) and relnamespace = quote_ident(current_schema())::regnamespace
  `.execute(db)
  for (const { name } of rows) await sql`drop index ${sql.raw(name)}`.execute(db)
}

/** Accounts that SCIM clients deactivated. A deactivation outlives its connection and the provisioned user. */
async function deactivations(db: MigrationDb): Promise<void> {
  const isNew = await ensureTable(db, 'postern_deactivations', {
    user_id: 'uuid primary key references users (id) on delete cascade',
    connection_id: 'uuid not null',
    created_at: 'timestamptz not null',
  })
  if (!isNew) return
  await sql`
    insert into postern_deactivations (user_id, connection_id, created_at)
    select user_id, sso_provider_id, coalesce(updated_at, now()) from scim_users
    where user_id is not null and deleted_at is null and not active
    on conflict do nothing
  `.execute(db)
}
