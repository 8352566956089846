/** SAML providers of organizations, and OAuth providers created at run time. */
import { sql } from 'kysely'

import { ensureIndexes, ensureTable, type MigrationDb, maximumLengths } from './ensure.ts'

const ofProvider = 'uuid not null references sso_providers (id) on delete cascade'

export async function up(db: MigrationDb): Promise<void> {
  await ssoProviders(db)
  await samlProviders(db)
  await samlRelayStates(db)
  await samlLogins(db)
  await customProviders(db)
  await customProviderDetails(db)
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
    sso_provider_id: ofProvider,
    domain: `text not null constraint "domain not empty" check (char_length(domain) > 0)`,
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  })
  await ensureIndexes(db, [
    `create unique index if not exists sso_providers_resource_id_idx
      on sso_providers (lower(resource_id))`,
    `create index if not exists sso_providers_resource_id_pattern_idx
      on sso_providers (resource_id text_pattern_ops)`,
    'create unique index if not exists sso_domains_domain_idx on sso_domains (lower(domain))',
    'create index if not exists sso_domains_sso_provider_id_idx on sso_domains (sso_provider_id)',
  ])
}

/** A provider without a row of options has the defaults. */
async function samlProviders(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'saml_providers', {
    id: 'uuid not null primary key',
    sso_provider_id: ofProvider,
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
  await ensureTable(db, 'postern_saml_provider_options', {
    sso_provider_id: 'uuid primary key references sso_providers (id) on delete cascade',
    idp_initiated: "text not null check (idp_initiated in ('allow', 'deny'))",
  })
  await ensureIndexes(db, [
    `create index if not exists saml_providers_sso_provider_id_idx
      on saml_providers (sso_provider_id)`,
  ])
}

/** The browsers are those in which sign-ins were started. */
async function samlRelayStates(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'saml_relay_states', {
    id: 'uuid not null primary key',
    sso_provider_id: ofProvider,
    request_id: `text not null
      constraint "request_id not empty" check (char_length(request_id) > 0)`,
    for_email: 'text',
    redirect_to: 'text',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    flow_state_id: 'uuid references flow_state (id) on delete cascade',
  })
  await ensureTable(db, 'postern_saml_browsers', {
    relay_state_id: 'uuid primary key references saml_relay_states (id) on delete cascade',
    browser_hash: 'text not null',
  })
  await ensureIndexes(db, [
    `create index if not exists saml_relay_states_sso_provider_id_idx
      on saml_relay_states (sso_provider_id)`,
    'create index if not exists saml_relay_states_for_email_idx on saml_relay_states (for_email)',
    `create index if not exists saml_relay_states_created_at_idx
      on saml_relay_states (created_at desc)`,
  ])
}

/** What a sign-in by SAML is called at the identity provider, for single logout; and logouts that were sent to one. */
async function samlLogins(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_saml_logins', {
    id: 'uuid not null primary key',
    sso_provider_id: ofProvider,
    user_id: 'uuid not null references users (id) on delete cascade',
    flow_id: 'uuid unique references flow_state (id) on delete cascade',
    session_id: 'uuid unique references sessions (id) on delete cascade',
    name_id: 'text',
    name_id_format: 'text',
    name_qualifier: 'text',
    sp_name_qualifier: 'text',
    session_index: 'text',
    session_end: 'timestamptz',
  })
  await ensureTable(db, 'postern_saml_logouts', {
    id: 'uuid not null primary key',
    sso_provider_id: ofProvider,
    request_id: 'text not null',
    redirect_to: 'text not null',
    message: 'text',
    created_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_saml_logins_name_idx
      on postern_saml_logins (sso_provider_id, name_id)`,
    'create index if not exists postern_saml_logins_user_idx on postern_saml_logins (user_id)',
    `create index if not exists postern_saml_logouts_created_at_idx
      on postern_saml_logouts (created_at)`,
    `create index if not exists postern_saml_logouts_provider_idx
      on postern_saml_logouts (sso_provider_id)`,
  ])
}

const providers = 'custom_oauth_providers'

async function customProviders(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'custom_oauth_providers',
    {
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
    },
    providerConstraints,
  )
  await ensureIndexes(
    db,
    ['created_at', 'enabled', 'identifier', 'provider_type'].map(
      (column) =>
        `create index if not exists ${providers}_${column}_idx on ${providers} (${column})`,
    ),
  )
}

const providerChecks = {
  client_id_length: 'char_length(client_id) between 1 and 512',
  issuer_length: 'char_length(issuer) between 1 and 2048',
  name_length: 'char_length(name) between 1 and 100',
  identifier_format: "identifier ~ '^[a-z0-9][a-z0-9:-]{0,48}[a-z0-9]$'",
  oauth2_requires_endpoints:
    "provider_type <> 'oauth2' or num_nulls(authorization_url, token_url, userinfo_url) = 0",
  oidc_requires_issuer: "provider_type <> 'oidc' or issuer is not null",
  oidc_issuer_https: "provider_type <> 'oidc' or issuer is null or issuer like 'https://%'",
  oidc_discovery_url_https:
    "provider_type <> 'oidc' or discovery_url is null or discovery_url like 'https://%'",
}

const providerConstraints = [
  ...maximumLengths(providers, {
    authorization_url: 2048,
    discovery_url: 2048,
    jwks_uri: 2048,
    token_url: 2048,
    userinfo_url: 2048,
  }),
  ...['authorization_url', 'jwks_uri', 'token_url', 'userinfo_url'].map(
    (column) =>
      `constraint ${providers}_${column}_https check (${column} is null or ${column} like 'https://%')`,
  ),
  ...Object.entries(providerChecks).map(
    ([name, rule]) => `constraint ${providers}_${name} check (${rule})`,
  ),
]

/**
 * Where the identities of each provider come from, which stays when the provider is deleted, as its identities do; and
 * options. A provider without a row of options keeps the redirect URI that it shares with others.
 */
async function customProviderDetails(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_custom_provider_options', {
    provider_id: 'uuid primary key references custom_oauth_providers on delete cascade',
    own_callback: 'boolean not null',
    id_token_signed_response_alg: "text check (id_token_signed_response_alg = 'HS256')",
  })
  const isNew = await ensureTable(db, 'postern_custom_provider_issuers', {
    identifier: 'text primary key',
    issuer: 'text not null',
  })
  if (!isNew) return
  await sql`
    insert into postern_custom_provider_issuers (identifier, issuer)
    select identifier, case provider_type when 'oidc' then issuer else userinfo_url end
    from custom_oauth_providers
    where case provider_type when 'oidc' then issuer else userinfo_url end is not null`.execute(db)
}
