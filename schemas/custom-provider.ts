/** Custom providers in requests and responses. The client secret is never returned. */
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { type CallbackBases, customCallbackUrl } from './values/callback-urls.ts'
import { StringEnum } from './values/choices.ts'
import { Timestamp, toTimestamp } from './values/timestamp.ts'

const Url = Type.String({ maxLength: 2048 })
const Names = Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 })
const Mapping = Type.Record(Type.String(), Type.Unknown())
const ProviderType = StringEnum(['oauth2', 'oidc'])

const changeable = {
  name: Type.String({ maxLength: 100 }),
  client_id: Type.String({ maxLength: 512 }),
  acceptable_client_ids: Names,
  scopes: Names,
  pkce_enabled: Type.Boolean(),
  attribute_mapping: Mapping,
  custom_claims_allowlist: Names,
  authorization_params: Mapping,
  enabled: Type.Boolean(),
  email_optional: Type.Boolean(),
  skip_nonce_check: Type.Boolean(),
  issuer: Url,
  authorization_url: Url,
  token_url: Url,
  userinfo_url: Url,
}

/** An absent field has its default, or stays unchanged. An empty discovery_url or jwks_uri clears it. */
export const CustomProviderInput = Type.Object({
  provider_type: Type.Optional(Type.String({ description: 'oauth2 or oidc; fixed once created' })),
  identifier: Type.Optional(
    Type.String({ description: '`custom:` and a name; fixed once created' }),
  ),
  client_secret: Type.Optional(Type.String({ maxLength: 2048, description: 'Stored encrypted' })),
  discovery_url: Type.Optional(Url),
  jwks_uri: Type.Optional(Url),
  id_token_signed_response_alg: Type.Optional(
    Type.String({
      description:
        'OpenID Connect: HS256 also accepts ID tokens that are signed with the client secret',
    }),
  ),
  shared_callback: Type.Optional(
    Type.Boolean({
      description: 'false gives an older provider a redirect URI of its own; it stays so',
    }),
  ),
  organization_bound: Type.Optional(
    Type.Boolean({
      description:
        'false makes a provider that no organization has any more one of the server again: it may then verify any address',
    }),
  ),
  ...Type.Partial(Type.Object(changeable)).properties,
})
export type CustomProviderInput = Static<typeof CustomProviderInput>

export const DiscoveryDocument = Type.Object(
  {
    issuer: Type.String(),
    authorization_endpoint: Type.String(),
    token_endpoint: Type.String(),
    userinfo_endpoint: Type.Optional(Type.String()),
    jwks_uri: Type.String(),
    scopes_supported: Type.Optional(Type.Array(Type.String())),
    response_types_supported: Type.Optional(Type.Array(Type.String())),
    grant_types_supported: Type.Optional(Type.Array(Type.String())),
    subject_types_supported: Type.Optional(Type.Array(Type.String())),
  },
  { description: 'As fetched when the provider was saved (OpenID Connect Discovery 1.0 §3)' },
)
export type DiscoveryDocument = Static<typeof DiscoveryDocument>

const { issuer, authorization_url, token_url, userinfo_url, ...always } = changeable

export const CustomProvider = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    provider_type: ProviderType,
    identifier: Type.String(),
    ...always,
    ...Type.Partial(Type.Object({ issuer, authorization_url, token_url, userinfo_url })).properties,
    discovery_url: Type.Optional(Url),
    jwks_uri: Type.Optional(Url),
    id_token_signed_response_alg: Type.Optional(StringEnum(['HS256'])),
    callback_url: Type.String({ description: 'The redirect URI to register at the provider' }),
    shared_callback: Type.Boolean({
      description:
        'Whether other providers have the same redirect URI, which allows mix-up attacks',
    }),
    organization_bound: Type.Boolean({
      description:
        'Whether an organization has or had the provider. It then opens accounts that it did not make only by addresses in verified domains of the organization',
    }),
    discovery_document: Type.Optional(DiscoveryDocument),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'CustomProvider' },
)
export type CustomProvider = Static<typeof CustomProvider>

type OfOneType =
  | 'issuer'
  | 'discovery_url'
  | 'authorization_url'
  | 'token_url'
  | 'userinfo_url'
  | 'jwks_uri'

/** The columns that are returned. */
type CustomProviderSource = Omit<
  CustomProvider,
  | OfOneType
  | 'callback_url'
  | 'shared_callback'
  | 'id_token_signed_response_alg'
  | 'discovery_document'
  | 'created_at'
  | 'updated_at'
> & { [Name in OfOneType]: string | null } & {
  own_callback: boolean
  id_token_signed_response_alg: 'HS256' | null
  cached_discovery: Record<string, unknown> | null
  created_at: Date
  updated_at: Date
}

export function toCustomProvider(row: CustomProviderSource, bases: CallbackBases): CustomProvider {
  const { cached_discovery: discovery } = row
  const isOidc = row.provider_type === 'oidc'
  return {
    id: row.id,
    provider_type: row.provider_type,
    identifier: row.identifier,
    name: row.name,
    client_id: row.client_id,
    acceptable_client_ids: row.acceptable_client_ids,
    scopes: row.scopes,
    pkce_enabled: row.pkce_enabled,
    attribute_mapping: row.attribute_mapping,
    custom_claims_allowlist: row.custom_claims_allowlist,
    authorization_params: row.authorization_params,
    enabled: row.enabled,
    email_optional: row.email_optional,
    skip_nonce_check: row.skip_nonce_check,
    ...present(row, isOidc ? ['issuer', 'discovery_url'] : oauth2Fields),
    ...(row.id_token_signed_response_alg && {
      id_token_signed_response_alg: row.id_token_signed_response_alg,
    }),
    callback_url: customCallbackUrl(bases, row),
    shared_callback: !row.own_callback,
    organization_bound: row.organization_bound,
    ...(isOidc && Value.Check(DiscoveryDocument, discovery) && { discovery_document: discovery }),
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }
}

const oauth2Fields = ['authorization_url', 'token_url', 'userinfo_url', 'jwks_uri'] as const

function present<Name extends OfOneType>(
  row: CustomProviderSource,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = row[name]
    if (value) found[name] = value
  }
  return found
}

/** The audit payload of a provider. */
export function auditedCustomProvider(row: CustomProviderSource): Record<string, unknown> {
  const bases = { AUTH_API_EXTERNAL_URL: '' }
  const { id, created_at, updated_at, discovery_document, callback_url, ...fields } =
    toCustomProvider(row, bases)
  return fields
}
