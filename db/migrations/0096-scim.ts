/** SCIM connections, names of their tokens, groups and the roles of their members. GoTrue's tables have users and tokens. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

const ofConnection =
  'uuid not null references postern_scim_connections (sso_provider_id) on delete cascade'
const times = { created_at: 'timestamptz not null', updated_at: 'timestamptz not null' }

export async function up(db: MigrationDb): Promise<void> {
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
  await groups(db)
  await ensureIndexes(db, [
    `create index if not exists postern_scim_connections_organization_idx
      on postern_scim_connections (organization_id)`,
    `create unique index if not exists postern_scim_groups_name_key
      on postern_scim_groups (sso_provider_id, display_name)`,
    `create unique index if not exists postern_scim_groups_external_id_key
      on postern_scim_groups (sso_provider_id, external_id)`,
    `create index if not exists postern_scim_groups_created_at_idx
      on postern_scim_groups (sso_provider_id, created_at, id)`,
    `create index if not exists postern_scim_group_members_user_idx
      on postern_scim_group_members (scim_user_id)`,
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
}
