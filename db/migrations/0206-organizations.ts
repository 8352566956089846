/** Organizations of users: members, roles, sign-in connections, invitations, domains and audit entries. */
import { sql } from 'kysely'

import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

const ofOrganization = 'uuid not null references postern_organizations (id) on delete cascade'
const times = { created_at: 'timestamptz not null', updated_at: 'timestamptz not null' }

export async function up(db: MigrationDb): Promise<void> {
  await organizations(db)
  await connections(db)
  await tenantProviders(db)
  await members(db)
  await invitations(db)
  await domains(db)
  await auditEntries(db)
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
  await ensureIndexes(db, [
    `create index if not exists postern_organizations_created_at_idx
      on postern_organizations (created_at, id)`,
    `create index if not exists postern_organizations_created_by_idx
      on postern_organizations (created_by)`,
    `create unique index if not exists postern_organization_roles_name_idx
      on postern_organization_roles (organization_id, name)`,
    `create unique index if not exists postern_organization_roles_server_name_idx
      on postern_organization_roles (name) where organization_id is null`,
  ])
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
  await ensureIndexes(db, [
    `create index if not exists postern_organization_connections_organization_idx
      on postern_organization_connections (organization_id)`,
  ])
}

/**
 * Custom providers that are or were bound to an organization, by identifier: the mark outlives the connection, the
 * organization and the provider, and an owner of the server removes it.
 */
async function tenantProviders(db: MigrationDb): Promise<void> {
  const isNew = await ensureTable(db, 'postern_tenant_providers', {
    identifier: 'text primary key',
    created_at: 'timestamptz not null',
  })
  if (!isNew) return
  await sql`
    insert into postern_tenant_providers (identifier, created_at)
    select custom_oauth_providers.identifier, postern_organization_connections.created_at
    from postern_organization_connections
    join custom_oauth_providers on custom_oauth_providers.id = custom_provider_id`.execute(db)
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
  await ensureIndexes(db, memberIndexes)
}

const memberIndexes = [
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
]

/** An invitation of an admin of the server is void when the admin has lost the role. */
async function invitations(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_organization_invitations',
    {
      id: 'uuid primary key',
      organization_id: ofOrganization,
      email: 'text not null',
      role: 'text not null',
      token_hash: 'text not null unique',
      invited_by: 'uuid references users (id) on delete set null',
      created_at: 'timestamptz not null',
      expires_at: 'timestamptz not null',
      invited_by_admin: 'uuid references users (id) on delete cascade',
    },
    ['unique (organization_id, email)'],
  )
  await ensureIndexes(db, [
    `create index if not exists postern_organization_invitations_email_idx
      on postern_organization_invitations (email)`,
    `create index if not exists postern_organization_invitations_invited_by_idx
      on postern_organization_invitations (invited_by)`,
    `create index if not exists postern_organization_invitations_invited_by_admin_idx
      on postern_organization_invitations (invited_by_admin)`,
  ])
}

async function domains(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_organization_domains',
    {
      id: 'uuid primary key',
      organization_id: ofOrganization,
      domain: 'text not null',
      dns_token: 'text not null',
      verified_at: 'timestamptz',
      verified_by: "text check (verified_by in ('dns', 'email', 'admin'))",
      email: 'text',
      code_hash: 'text',
      code_attempts: 'integer not null default 0',
      code_expires_at: 'timestamptz',
      ...times,
    },
    ['unique (organization_id, domain)'],
  )
  await ensureIndexes(db, [
    `create unique index if not exists postern_organization_domains_verified_idx
      on postern_organization_domains (domain) where verified_at is not null`,
  ])
}

/**
 * What the members of an organization may read of the audit log. `acting` is who acted: `actor` and `act`, as in the
 * audit log.
 */
async function auditEntries(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_organization_audit_entries', {
    id: 'uuid primary key',
    organization_id: ofOrganization,
    action: 'text not null',
    actor_id: 'uuid',
    actor_name: "text not null default ''",
    traits: "jsonb not null default '{}'",
    ip_address: "text not null default ''",
    created_at: 'timestamptz not null',
    acting: 'jsonb',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_organization_audit_entries_idx
      on postern_organization_audit_entries (organization_id, created_at, id)`,
  ])
}
