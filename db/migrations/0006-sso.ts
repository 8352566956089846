/** SAML providers of organizations, and OAuth providers created at run time. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ssoProviders(db)
  await samlProviders(db)
  await samlRelayStates(db)
  await customOauthProviders(db)
}

async function ssoProviders(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'sso_providers', {
    id: 'uuid not null primary key',
    resource_id: `text constraint "resource_id not empty" check (char_length(resource_id) > 0)`,
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    disabled: 'boolean',
  })
  await ensureTable(db, 'sso_domains', {
    id: 'uuid not null primary key',
    sso_provider_id: 'uuid not null references sso_providers (id) on delete cascade',
    domain: `text not null constraint "domain not empty" check (char_length(domain) > 0)`,
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  })
  await ensureIndexes(db, [
    `create unique index if not exists sso_providers_resource_id_idx
      on sso_providers (lower(resource_id))`,
    'create unique index if not exists sso_domains_domain_idx on sso_domains (lower(domain))',
    'create index if not exists sso_domains_sso_provider_id_idx on sso_domains (sso_provider_id)',
  ])
}

async function samlProviders(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'saml_providers', {
    id: 'uuid not null primary key',
    sso_provider_id: 'uuid not null references sso_providers (id) on delete cascade',
    entity_id: `text not null unique
      constraint "entity_id not empty" check (char_length(entity_id) > 0)`,
    metadata_xml: `text not null
      constraint "metadata_xml not empty" check (char_length(metadata_xml) > 0)`,
    metadata_url: `text constraint "metadata_url not empty" check (char_length(metadata_url) > 0)`,
    attribute_mapping: 'jsonb',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    name_id_format: 'text',
  })
  await ensureIndexes(db, [
    `create index if not exists saml_providers_sso_provider_id_idx
      on saml_providers (sso_provider_id)`,
  ])
}

async function samlRelayStates(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'saml_relay_states', {
    id: 'uuid not null primary key',
    sso_provider_id: 'uuid not null references sso_providers (id) on delete cascade',
    request_id: `text not null
      constraint "request_id not empty" check (char_length(request_id) > 0)`,
    for_email: 'text',
    redirect_to: 'text',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    flow_state_id: 'uuid references flow_state (id) on delete cascade',
  })
  await ensureIndexes(db, [
    `create index if not exists saml_relay_states_sso_provider_id_idx
      on saml_relay_states (sso_provider_id)`,
    'create index if not exists saml_relay_states_for_email_idx on saml_relay_states (for_email)',
    `create index if not exists saml_relay_states_created_at_idx
      on saml_relay_states (created_at desc)`,
  ])
}

async function customOauthProviders(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'custom_oauth_providers', {
    id: 'uuid not null default gen_random_uuid() primary key',
    provider_type: "text not null check (provider_type in ('oauth2', 'oidc'))",
    identifier: 'text not null unique',
    name: 'text not null',
    client_id: 'text not null',
    client_secret: 'text not null',
    acceptable_client_ids: "text[] not null default '{}'",
    scopes: "text[] not null default '{}'",
    pkce_enabled: 'boolean not null default true',
    attribute_mapping: "jsonb not null default '{}'",
    custom_claims_allowlist: "text[] not null default '{}'",
    authorization_params: "jsonb not null default '{}'",
    enabled: 'boolean not null default true',
    email_optional: 'boolean not null default false',
    issuer: 'text',
    discovery_url: 'text',
    skip_nonce_check: 'boolean not null default false',
    cached_discovery: 'jsonb',
    discovery_cached_at: 'timestamptz',
    authorization_url: 'text',
    token_url: 'text',
    userinfo_url: 'text',
    jwks_uri: 'text',
    created_at: 'timestamptz not null default now()',
    updated_at: 'timestamptz not null default now()',
  })
}
