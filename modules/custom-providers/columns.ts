/** Converts admin requests to columns. */
import type { CustomProviderInput } from '../../schemas/custom-provider.ts'
import { validationFailed } from '../../schemas/errors.ts'
import { checkIdentifier } from './rules.ts'

type Required = 'identifier' | 'name' | 'client_id' | 'client_secret'

export type NewProvider = CustomProviderInput &
  Record<Required, string> & { provider_type: 'oauth2' | 'oidc' }

const urlsOfOauth2 = ['authorization_url', 'token_url', 'userinfo_url'] as const

/** Validates in GoTrue's order. Throws validation_failed. */
export function readNewProvider(input: CustomProviderInput): NewProvider {
  const { provider_type } = input
  if (provider_type !== 'oauth2' && provider_type !== 'oidc') {
    throw validationFailed('provider_type must be oauth2 or oidc')
  }
  const identifier = required(input, 'identifier')
  checkIdentifier(identifier)
  const name = required(input, 'name')
  const client_id = required(input, 'client_id')
  const client_secret = required(input, 'client_secret')
  const urls = provider_type === 'oidc' ? (['issuer'] as const) : urlsOfOauth2
  for (const url of urls) required(input, url)
  return { ...input, provider_type, identifier, name, client_id, client_secret }
}

function required(
  input: CustomProviderInput,
  name: Required | 'issuer' | (typeof urlsOfOauth2)[number],
): string {
  const value = input[name]
  if (!value) throw validationFailed(`${name} is required`)
  return value
}

/**
 * Columns of the given fields; an empty text changes nothing, an empty list or object clears. OAuth 2.0 has no ID token,
 * whose nonce could be skipped.
 */
export function toProviderColumns(type: 'oauth2' | 'oidc', input: CustomProviderInput) {
  const { attribute_mapping, authorization_params, discovery_url, jwks_uri } = input
  return defined({
    name: input.name || undefined,
    client_id: input.client_id || undefined,
    issuer: input.issuer || undefined,
    authorization_url: input.authorization_url || undefined,
    token_url: input.token_url || undefined,
    userinfo_url: input.userinfo_url || undefined,
    // An empty text clears these two.
    discovery_url: discovery_url === '' ? null : discovery_url,
    jwks_uri: jwks_uri === '' ? null : jwks_uri,
    acceptable_client_ids: input.acceptable_client_ids,
    scopes: input.scopes,
    custom_claims_allowlist: input.custom_claims_allowlist,
    pkce_enabled: input.pkce_enabled,
    enabled: input.enabled,
    email_optional: input.email_optional,
    skip_nonce_check: type === 'oidc' ? input.skip_nonce_check : undefined,
    attribute_mapping: attribute_mapping && JSON.stringify(attribute_mapping),
    authorization_params: authorization_params && JSON.stringify(authorization_params),
  })
}

type Defined<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> }

function defined<Values extends object>(values: Values): Defined<Values> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Defined<Values>
}

/** OpenID Connect needs the scope `openid` (Core §3.1.2.1). */
export function withScopes<Columns extends { scopes?: string[] }>(
  type: 'oauth2' | 'oidc',
  columns: Columns,
): Columns {
  const { scopes } = columns
  if (type !== 'oidc' || !scopes || scopes.includes('openid')) return columns
  return { ...columns, scopes: ['openid', ...scopes] }
}
