/** Identities at providers, and the providers that admins create. */
import type { ColumnType, Generated, Selectable } from 'kysely'

import type { UserMetadata } from './users.ts'

export const identityColumns = [
  'identities.id',
  'identities.provider_id',
  'identities.user_id',
  'identities.identity_data',
  'identities.provider',
  'identities.last_sign_in_at',
  'identities.created_at',
  'identities.updated_at',
  'identities.email',
] as const

/** An identity in a JSON aggregate: times are ISO 8601 strings. */
export type IdentityJson = Omit<IdentityRow, 'last_sign_in_at' | 'created_at' | 'updated_at'> & {
  last_sign_in_at: string | null
  created_at: string | null
  updated_at: string | null
}

export type IdentityRow = Selectable<IdentitiesTable>

export interface IdentitiesTable {
  id: Generated<string>
  provider_id: string
  user_id: string
  identity_data: ColumnType<UserMetadata, string, string>
  provider: string
  last_sign_in_at: Date | null
  created_at: Date | null
  updated_at: Date | null
  email: ColumnType<string | null, never, never>
}

type Json = Record<string, unknown>
type JsonColumn = ColumnType<Json, string | undefined, string>
type ListColumn = ColumnType<string[], readonly string[] | undefined, readonly string[]>

/** Providers created at run time, as GoTrue stores them. */
export interface CustomOauthProvidersTable {
  id: string
  provider_type: 'oauth2' | 'oidc'
  identifier: string
  name: string
  client_id: string
  /** Encrypted, bound to the id. */
  client_secret: string
  acceptable_client_ids: ListColumn
  scopes: ListColumn
  pkce_enabled: Generated<boolean>
  attribute_mapping: JsonColumn
  custom_claims_allowlist: ListColumn
  authorization_params: JsonColumn
  enabled: Generated<boolean>
  email_optional: Generated<boolean>
  issuer: string | null
  discovery_url: string | null
  skip_nonce_check: Generated<boolean>
  cached_discovery: ColumnType<Json | null, string | null, string | null>
  discovery_cached_at: Date | null
  authorization_url: string | null
  token_url: string | null
  userinfo_url: string | null
  jwks_uri: string | null
  created_at: Date
  updated_at: Date
}

/** What GoTrue's table has no column for. A provider without a row, such as one that GoTrue added, has the defaults. */
export interface CustomProviderOptionsTable {
  provider_id: string
  /** Whether the provider has a redirect URI of its own. */
  own_callback: boolean
  /** HS256, signed with the client secret, besides asymmetric algorithms. */
  id_token_signed_response_alg: 'HS256' | null
}

/**
 * The issuer of the identities of a provider, or the userinfo URL of an OAuth 2.0 provider; also of a deleted one, and of
 * providers of the configuration.
 */
export interface CustomProviderIssuersTable {
  identifier: string
  issuer: string
}

/** A provider that is or was bound to an organization; also a deleted one. */
export interface TenantProvidersTable {
  identifier: string
  created_at: Date
}
