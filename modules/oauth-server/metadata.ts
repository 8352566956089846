/** Server metadata (OpenID Connect Discovery 1.0 §3, RFC 8414). */
import type { FastifyInstance } from 'fastify'

import { assertionAlgorithms, deviceGrant } from '../../schemas/oauth/client.ts'
import type { ServerMetadata } from '../../schemas/oauth/metadata.ts'
import { idTokenAlgorithms } from './clients/id-token-algorithm.ts'
import { acrValues } from './requests/acr.ts'
import { responseModes } from './requests/response-mode.ts'
import { supportedScopes } from './scopes.ts'
import { userClaims } from './tokens/claims.ts'

const authMethods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none']

/** The document of both well-known paths. */
export function serverMetadata(app: FastifyInstance, now: Date): ServerMetadata {
  // The issuer may be another URL; endpoints must be on this server.
  const base = app.config.AUTH_API_EXTERNAL_URL
  return {
    issuer: app.jwt.issuer,
    authorization_endpoint: `${base}/oauth/authorize`,
    token_endpoint: `${base}/oauth/token`,
    jwks_uri: `${base}/.well-known/jwks.json`,
    userinfo_endpoint: `${base}/oauth/userinfo`,
    revocation_endpoint: `${base}/oauth/revoke`,
    introspection_endpoint: `${base}/oauth/introspect`,
    pushed_authorization_request_endpoint: `${base}/oauth/par`,
    device_authorization_endpoint: `${base}/oauth/device_authorization`,
    end_session_endpoint: `${base}/oauth/logout`,
    ...(app.config.AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION && {
      registration_endpoint: `${base}/oauth/clients/register`,
    }),
    scopes_supported: supportedScopes(app.config),
    response_types_supported: ['code'],
    response_modes_supported: [...responseModes],
    grant_types_supported: ['authorization_code', 'refresh_token', deviceGrant],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: idTokenAlgorithms(app, now),
    acr_values_supported: acrValues,
    prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
    token_endpoint_auth_methods_supported: authMethods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    revocation_endpoint_auth_methods_supported: authMethods,
    introspection_endpoint_auth_methods_supported: authMethods.filter((name) => name !== 'none'),
    claims_supported: claims,
    code_challenge_methods_supported: ['S256', 'plain'],
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    require_pushed_authorization_requests: false,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported:
      app.config.AUTH_OAUTH_SERVER_CLIENT_ID_METADATA_DOCUMENTS,
  }
}

const claims = [
  'sub',
  'aud',
  'iss',
  'exp',
  'iat',
  'auth_time',
  'nonce',
  'acr',
  'amr',
  'azp',
  'at_hash',
  'sid',
  ...userClaims,
]
