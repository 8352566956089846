/** Validates client metadata from admins and registrations (RFC 7591 §2). */
import type { FastifyInstance } from 'fastify'
import type { JSONWebKeySet, JWK } from 'jose'

import type { ClientValues } from '../../../db/oauth-server/clients.ts'
import type { OauthClientSettings } from '../../../db/tables/oauth-server.ts'
import { invalidClientMetadata } from '../../../schemas/errors.ts'
import {
  authMethods,
  type ClientRegistration,
  deviceGrant,
  grantTypes,
  type NewOauthClient,
} from '../../../schemas/oauth/client.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { scopeList, supportedScopes } from '../scopes.ts'
import { type AuthMethod, joinList } from './client.ts'
import { checkRedirectUris, findRedirectProblem, isAbsoluteUri, isWebUrl } from './redirect-uris.ts'

type Fields = Omit<NewOauthClient, 'client_type'>

interface ClientMetadata {
  values: ClientValues
  authMethod: AuthMethod
  type: 'public' | 'confidential'
}

const maxNameLength = 1024

const invalid = (description: string) =>
  invalidClientMetadata('invalid_client_metadata', description)

/** The row of these fields. Throws invalid_client_metadata or invalid_redirect_uri. */
export function readClientMetadata(
  app: Pick<FastifyInstance, 'config'>,
  { client_type, ...fields }: NewOauthClient,
): ClientMetadata {
  const { redirect_uris = [] } = fields
  checkRedirectUris(redirect_uris)
  const authMethod = readAuthMethod(fields, client_type)
  const type = authMethod === 'none' ? 'public' : 'confidential'
  if (client_type && client_type !== type) {
    throw invalid(`A ${client_type} client cannot authenticate with ${authMethod}`)
  }
  checkDescription(fields)
  const settings = readSettings(app, fields, authMethod)
  if (type === 'public' && settings.require_pkce === false) {
    throw invalid('require_pkce: a public client must use PKCE')
  }
  const values = {
    redirect_uris: joinList(redirect_uris),
    grant_types: joinList(readGrantTypes(fields.grant_types)),
    client_name: fields.client_name || null,
    client_uri: fields.client_uri || null,
    logo_uri: fields.logo_uri || null,
    token_endpoint_auth_method:
      authMethod === 'private_key_jwt' ? ('client_secret_basic' as const) : authMethod,
    settings,
  }
  return { values, authMethod, type }
}

/**
 * What a client registers of itself, without the grants, scopes and authentication methods that this server does not
 * have: the response says what was registered (RFC 7591 §3.2.1). Where nothing of a list remains, it is kept to be
 * rejected, or replaced by the default.
 */
export function reduceToSupported(
  { config }: FastifyInstance,
  { token_endpoint_auth_method: method, ...fields }: ClientRegistration,
): ClientRegistration {
  const { grant_types: grants, scope } = fields
  const supportedGrants = grants?.filter((type) => grantTypes.includes(type)) ?? []
  const isKnownMethod = authMethods.some((name) => name === method)
  return {
    ...fields,
    ...(method !== undefined && isKnownMethod && { token_endpoint_auth_method: method }),
    ...(supportedGrants.length > 0 && { grant_types: supportedGrants }),
    ...(scope && { scope: reduceScope(config, scope) }),
  }
}

function reduceScope(config: FastifyInstance['config'], scope: string): string {
  const supported = supportedScopes(config)
  const names = scopeList(scope).filter((name) => supported.includes(name))
  return names.length > 0 ? names.join(' ') : config.AUTH_OAUTH_SERVER_DEFAULT_SCOPE
}

function readAuthMethod(
  { token_endpoint_auth_method: method }: Fields,
  type: NewOauthClient['client_type'],
): AuthMethod {
  if (!method) return type === 'public' ? 'none' : 'client_secret_basic'
  const known = authMethods.find((name) => name === method)
  if (!known) throw invalid(`token_endpoint_auth_method must be one of ${authMethods.join(', ')}`)
  return known
}

function readGrantTypes(requested: readonly string[] | undefined): string[] {
  if (!requested) return ['authorization_code', 'refresh_token']
  if (requested.length === 0) throw invalid('grant_types must not be empty')
  const unknown = requested.find((type) => !grantTypes.includes(type))
  if (unknown !== undefined) {
    throw invalid(`grant_types may contain authorization_code, refresh_token and ${deviceGrant}`)
  }
  return [...new Set(requested)]
}

function checkDescription({ client_name = '', ...fields }: Fields): void {
  if (client_name.length > maxNameLength) {
    throw invalid(`client_name has more than ${maxNameLength} characters`)
  }
  for (const name of ['client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'jwks_uri'] as const) {
    const value = fields[name]
    if (value && !isWebUrl(value)) {
      throw invalid(`${name} must be an http or https URL of at most 2048 characters`)
    }
  }
  for (const uri of fields.resources ?? []) {
    if (!isAbsoluteUri(uri)) throw invalid(`${uri} must be an absolute URI without a fragment`)
  }
  for (const uri of fields.post_logout_redirect_uris ?? []) {
    const problem = findRedirectProblem(uri)
    if (problem) throw invalid(`post_logout_redirect_uris: ${problem}`)
  }
  if (fields.response_types && !fields.response_types.includes('code')) {
    throw invalid('response_types must contain code')
  }
}

const kept = [
  ...(['require_pkce', 'resources', 'include_default_audience', 'default_max_age'] as const),
  ...(['post_logout_redirect_uris', 'require_pushed_authorization_requests', 'contacts'] as const),
  ...(['policy_uri', 'tos_uri', 'application_type', 'software_id', 'software_version'] as const),
  ...(['jwks', 'jwks_uri', 'id_token_signed_response_alg'] as const),
]

function readSettings(
  { config }: Pick<FastifyInstance, 'config'>,
  fields: Fields,
  authMethod: AuthMethod,
): OauthClientSettings {
  if (fields.jwks && fields.jwks_uri) throw invalid('Send either jwks or jwks_uri, not both')
  if (fields.jwks && fields.jwks.keys.length > maxClientKeys) {
    throw invalid(`jwks has more than ${maxClientKeys} keys`)
  }
  if (authMethod === 'private_key_jwt' && !fields.jwks && !fields.jwks_uri) {
    throw invalid('private_key_jwt requires jwks or jwks_uri')
  }
  const { scope = '' } = fields
  const unknown = scope.split(' ').find((name) => name && !supportedScopes(config).includes(name))
  if (unknown !== undefined) throw invalid(`scope: unknown scope ${unknown}`)
  const present = kept.filter((name) => fields[name] !== undefined)
  return {
    ...Object.fromEntries(present.map((name) => [name, fields[name]])),
    ...(scope && { scope }),
    ...(authMethod === 'private_key_jwt' && { token_endpoint_auth_method: authMethod }),
  }
}

/** Of a document at a jwks_uri. */
export const maxKeySetLength = 65_536
const maxClientKeys = 50

/** Without certificates, which are not used, and lists of any length. */
const members = ['kty', 'kid', 'use', 'alg', 'crv', 'x', 'y', 'n', 'e']

/** The keys that a client registered, or that its jwks_uri serves. Throws an Error for anything else. */
export function readClientKeys(value: unknown): JSONWebKeySet {
  if (!isRecord(value) || !Array.isArray(value.keys)) throw new Error('it is not a key set')
  if (value.keys.length > maxClientKeys) throw new Error(`it has more than ${maxClientKeys} keys`)
  return { keys: value.keys.map(readKey) }
}

function readKey(value: unknown): JWK {
  if (!isRecord(value)) throw new Error('a key is not an object')
  const entries = members.map((name) => [name, value[name]])
  return Object.fromEntries(entries.filter(([, member]) => typeof member === 'string'))
}
