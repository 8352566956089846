/**
 * Validation of provider fields, and their conversion to columns. Each function that checks throws validation_failed.
 */
import type { FastifyInstance } from 'fastify'

import type { CustomProviderInput } from '../../schemas/custom-provider.ts'
import { validationFailed } from '../../schemas/errors.ts'

/** Includes the prefix, as in GoTrue: lower case, at most 50 characters. */
const identifierPattern = /^custom:[a-z0-9:-]{0,42}[a-z0-9]$/

/** Parameters of the protocol, which the server sets itself. */
const reservedParams = [
  'client_id',
  'client_secret',
  'redirect_uri',
  'response_type',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'request',
  'request_uri',
]

/** User fields that only the server sets. */
const blockedTargets = [
  'id',
  'aud',
  'role',
  'app_metadata',
  'created_at',
  'updated_at',
  'confirmed_at',
  'email_confirmed_at',
  'phone_confirmed_at',
  'email_verified',
  'phone_verified',
  'banned_until',
  'is_super_admin',
]

export function checkIdentifier(identifier: string): void {
  if (!identifier.startsWith('custom:')) {
    throw validationFailed('identifier must start with custom:, as in custom:example')
  }
  if (identifierPattern.test(identifier)) return
  throw validationFailed(
    'identifier must be custom: and up to 43 lower-case letters, digits, hyphens and colons, the last one a letter or digit',
  )
}

/** Validates a new or changed provider. */
export function checkCustomProviderFields(input: CustomProviderInput): void {
  checkAuthorizationParams(input.authorization_params ?? {})
  const blocked = Object.keys(input.attribute_mapping ?? {}).find((name) =>
    blockedTargets.includes(name.toLowerCase()),
  )
  if (blocked !== undefined) {
    throw validationFailed(`attribute_mapping cannot set ${blocked}, which the server sets`)
  }
  if (input.custom_claims_allowlist?.some((name) => name.trim() === '')) {
    throw validationFailed('custom_claims_allowlist cannot contain an empty name')
  }
}

function checkAuthorizationParams(params: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(params)) {
    if (reservedParams.includes(name.toLowerCase())) {
      throw validationFailed(
        `authorization_params cannot set ${name}, which is a protocol parameter`,
      )
    }
    if (typeof value !== 'string') {
      throw validationFailed(`authorization_params.${name} must be a string`)
    }
  }
}

const urlFields: readonly string[] = [
  'issuer',
  'discovery_url',
  'authorization_url',
  'token_url',
  'userinfo_url',
  'jwks_uri',
]

/** https only, and no address of a private network after DNS resolution. */
export async function checkUrls(
  { httpClient }: Pick<FastifyInstance, 'httpClient'>,
  input: CustomProviderInput,
): Promise<void> {
  for (const [name, value] of Object.entries(input)) {
    if (!urlFields.includes(name) || typeof value !== 'string' || value === '') continue
    const url = value.startsWith('https://') && URL.parse(value)
    if (!url) throw validationFailed(`${name} must be an absolute https URL`)
    if (url.username || url.password || url.hash) {
      throw validationFailed(`${name} must not have a user name, password or fragment`)
    }
    try {
      await httpClient.checkAddress(url)
    } catch (cause) {
      throw validationFailed(`${name} must be the URL of a host with a public address`, 400, cause)
    }
  }
}

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
