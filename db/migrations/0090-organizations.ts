/** Organizations of users: members, roles and sign-in connections. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

const ofOrganization = 'uuid not null references postern_organizations (id) on delete cascade'
const times = { created_at: 'timestamptz not null', updated_at: 'timestamptz not null' }

export async function up(db: MigrationDb): Promise<void> {
  await organizations(db)
  await connections(db)
  await members(db)
  await indexes(db)
}

async function organizations(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_organizations', {
    id: 'uuid primary key',
    slug: 'text not null unique',
    name: 'text not null',
    metadata: "jsonb not null default '{}'",
    created_by: 'uuid references users (id) on delete set null',
    invitation_join: 'boolean not null default true',
    domain_join:
      "text not null default 'off' check (domain_join in ('off', 'suggested', 'automatic'))",
    sso_join: 'boolean not null default true',
    scim_join: 'boolean not null default true',
    default_role: "text not null default 'member'",
    ...times,
    deleted_at: 'timestamptz',
  })
  await ensureTable(db, 'postern_organization_roles', {
    id: 'uuid primary key',
    organization_id: 'uuid references postern_organizations (id) on delete cascade',
    name: 'text not null',
    description: "text not null default ''",
    permissions: "text[] not null default '{}'",
    ...times,
  })
}

/** A connection without a provider is one that provisions users only. */
async function connections(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_organization_connections',
    {
      id: 'uuid primary key',
      organization_id: ofOrganization,
      name: 'text not null',
      sso_provider_id: 'uuid unique references sso_providers (id) on delete cascade',
      custom_provider_id: 'uuid unique references custom_oauth_providers (id) on delete cascade',
      enabled: 'boolean not null default true',
      default_role: "text not null default 'member'",
      role_mapping: "jsonb not null default '[]'",
      ...times,
    },
    ['check (num_nonnulls(sso_provider_id, custom_provider_id) <= 1)'],
  )
}

/** The session of a removed member loses its organization by the foreign key. */
async function members(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_organization_members',
    {
      organization_id: ofOrganization,
      user_id: 'uuid not null references users (id) on delete cascade',
      role: 'text not null',
      status: "text not null default 'active' check (status in ('active', 'suspended'))",
      joined_by: `text not null
        check (joined_by in ('creation', 'invitation', 'domain', 'sso', 'scim', 'admin'))`,
      connection_id: 'uuid references postern_organization_connections (id) on delete set null',
      ...times,
    },
    ['primary key (organization_id, user_id)'],
  )
  await ensureTable(
    db,
    'postern_session_organizations',
    {
      session_id: 'uuid primary key references sessions (id) on delete cascade',
      organization_id: 'uuid not null',
      user_id: 'uuid not null',
    },
    [
      `foreign key (organization_id, user_id)
        references postern_organization_members (organization_id, user_id) on delete cascade`,
    ],
  )
}

async function indexes(db: MigrationDb): Promise<void> {
  await ensureIndexes(db, [
    `create index if not exists postern_organizations_created_at_idx
      on postern_organizations (created_at, id)`,
    `create index if not exists postern_organizations_created_by_idx
      on postern_organizations (created_by)`,
    `create unique index if not exists postern_organization_roles_name_idx
      on postern_organization_roles (organization_id, name)`,
    `create unique index if not exists postern_organization_roles_server_name_idx
      on postern_organization_roles (name) where organization_id is null`,
    `create index if not exists postern_organization_connections_organization_idx
      on postern_organization_connections (organization_id)`,
    `create index if not exists postern_organization_members_user_idx
      on postern_organization_members (user_id)`,
    `create index if not exists postern_organization_members_created_at_idx
      on postern_organization_members (organization_id, created_at, user_id)`,
    `create index if not exists postern_organization_members_owners_idx
      on postern_organization_members (organization_id) where role = 'owner'`,
    `create index if not exists postern_organization_members_connection_idx
      on postern_organization_members (connection_id)`,
    `create index if not exists postern_session_organizations_member_idx
      on postern_session_organizations (organization_id, user_id)`,
  ])
}
