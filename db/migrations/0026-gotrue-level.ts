/**
 * Gives tables that this program created the names and constraints of GoTrue's, and records the matching GoTrue
 * migrations: GoTrue's migration command continues from there. A database created by GoTrue is not changed.
 */
import { sql } from 'kysely'

import { ensureIndexes, type MigrationDb } from './ensure.ts'
import { gotrueVersions } from './gotrue-level.ts'

export async function up(db: MigrationDb): Promise<void> {
  for (const [table, from, to] of renamed) await rename(db, table, from, to)
  for (const [table, column, longest] of bounded) {
    await ensureCheck(
      db,
      table,
      `${table}_${column}_length`,
      `char_length(${column}) <= ${longest}`,
    )
  }
  for (const column of addresses) {
    const rule = `${column} is null or ${column} like 'https://%'`
    await ensureCheck(db, providers, `${providers}_${column}_https`, rule)
  }
  for (const [table, name, rule] of checks) await ensureCheck(db, table, name, rule)
  await uniqueIdentities(db)
  await uniqueCredentials(db)
  await ensureIndexes(db, indexes)
  const versions = sql.join(gotrueVersions.map((version) => sql`(${version})`))
  await sql`insert into schema_migrations (version) values ${versions} on conflict do nothing`.execute(
    db,
  )
}

const providers = 'custom_oauth_providers'

const renamed = [
  ['oauth_clients', 'oauth_clients_client_name_check', 'oauth_clients_client_name_length'],
  ['oauth_clients', 'oauth_clients_client_uri_check', 'oauth_clients_client_uri_length'],
  ['oauth_clients', 'oauth_clients_logo_uri_check', 'oauth_clients_logo_uri_length'],
  ['sessions', 'sessions_scopes_check', 'sessions_scopes_length'],
] as const

/** Columns by their maximum length. */
const bounded = [
  [providers, 'authorization_url', 2048],
  [providers, 'discovery_url', 2048],
  [providers, 'jwks_uri', 2048],
  [providers, 'token_url', 2048],
  [providers, 'userinfo_url', 2048],
  ['oauth_authorizations', 'authorization_code', 255],
  ['oauth_authorizations', 'code_challenge', 128],
  ['oauth_authorizations', 'nonce', 255],
  ['oauth_authorizations', 'redirect_uri', 2048],
  ['oauth_authorizations', 'resource', 2048],
  ['oauth_authorizations', 'scope', 4096],
  ['oauth_authorizations', 'state', 4096],
  ['oauth_consents', 'scopes', 2048],
] as const

const addresses = ['authorization_url', 'jwks_uri', 'token_url', 'userinfo_url']

const checks = [
  [providers, `${providers}_client_id_length`, 'char_length(client_id) between 1 and 512'],
  [providers, `${providers}_issuer_length`, 'char_length(issuer) between 1 and 2048'],
  [providers, `${providers}_name_length`, 'char_length(name) between 1 and 100'],
  [
    providers,
    `${providers}_identifier_format`,
    "identifier ~ '^[a-z0-9][a-z0-9:-]{0,48}[a-z0-9]$'",
  ],
  [
    providers,
    `${providers}_oauth2_requires_endpoints`,
    "provider_type <> 'oauth2' or num_nulls(authorization_url, token_url, userinfo_url) = 0",
  ],
  [providers, `${providers}_oidc_requires_issuer`, "provider_type <> 'oidc' or issuer is not null"],
  [
    providers,
    `${providers}_oidc_issuer_https`,
    "provider_type <> 'oidc' or issuer is null or issuer like 'https://%'",
  ],
  [
    providers,
    `${providers}_oidc_discovery_url_https`,
    "provider_type <> 'oidc' or discovery_url is null or discovery_url like 'https://%'",
  ],
  ['oauth_authorizations', 'oauth_authorizations_expires_at_future', 'expires_at > created_at'],
  [
    'oauth_consents',
    'oauth_consents_revoked_after_granted',
    'revoked_at is null or revoked_at >= granted_at',
  ],
  ['oauth_consents', 'oauth_consents_scopes_not_empty', 'char_length(trim(scopes)) > 0'],
  [
    'webauthn_challenges',
    'webauthn_challenges_challenge_type_check',
    "challenge_type in ('signup', 'registration', 'authentication')",
  ],
] as const

const indexes = [
  `create index if not exists ${providers}_created_at_idx on ${providers} (created_at)`,
  `create index if not exists ${providers}_enabled_idx on ${providers} (enabled)`,
  `create index if not exists ${providers}_identifier_idx on ${providers} (identifier)`,
  `create index if not exists ${providers}_provider_type_idx on ${providers} (provider_type)`,
  `create index if not exists oauth_consents_active_client_idx on oauth_consents (client_id)
    where revoked_at is null`,
  `create index if not exists oauth_consents_active_user_client_idx
    on oauth_consents (user_id, client_id) where revoked_at is null`,
  `create index if not exists oauth_consents_user_order_idx
    on oauth_consents (user_id, granted_at desc)`,
  'create unique index if not exists schema_migrations_version_idx on schema_migrations (version)',
  `create index if not exists sso_providers_resource_id_pattern_idx
    on sso_providers (resource_id text_pattern_ops)`,
]

async function rename(db: MigrationDb, table: string, from: string, to: string): Promise<void> {
  if (!(await hasConstraint(db, table, from))) return
  await sql`alter table ${sql.ref(table)} rename constraint ${sql.ref(from)} to ${sql.ref(to)}`.execute(
    db,
  )
}

async function ensureCheck(db: MigrationDb, table: string, name: string, rule: string) {
  if (await hasConstraint(db, table, name)) return
  await sql`alter table ${sql.ref(table)} add constraint ${sql.ref(name)} check (${sql.raw(rule)})`.execute(
    db,
  )
}

async function uniqueIdentities(db: MigrationDb): Promise<void> {
  const name = 'identities_provider_id_provider_unique'
  if (await hasConstraint(db, 'identities', name)) return
  await sql`alter table identities add constraint ${sql.ref(name)} unique using index ${sql.ref(name)}`.execute(
    db,
  )
}

/** GoTrue has an index instead of a constraint. */
async function uniqueCredentials(db: MigrationDb): Promise<void> {
  const name = 'webauthn_credentials_credential_id_key'
  if (!(await hasConstraint(db, 'webauthn_credentials', name))) return
  await sql`alter table webauthn_credentials drop constraint ${sql.ref(name)}`.execute(db)
  await sql`create unique index ${sql.ref(name)} on webauthn_credentials (credential_id)`.execute(
    db,
  )
}

async function hasConstraint(db: MigrationDb, table: string, name: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_constraint where conname = ${name}
      and conrelid = to_regclass(format('%I.%I', current_schema(), ${table}::text))
  `.execute(db)
  return rows.length > 0
}
