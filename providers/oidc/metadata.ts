/** Reads and validates OpenID provider metadata (OpenID Connect Discovery 1.0 §3). */
import type { ProfileMetadata } from '../core/types.ts'
import { asList, asText, getPath } from '../http/json.ts'

/** A missing or unusable value becomes ''. */
export function readIssuerMetadata(document: unknown): ProfileMetadata {
  return {
    issuer: asText(getPath(document, 'issuer')),
    authorizationEndpoint: address(getPath(document, 'authorization_endpoint')),
    tokenEndpoint: address(getPath(document, 'token_endpoint')),
    userinfoEndpoint: address(getPath(document, 'userinfo_endpoint')),
    jwksUri: address(getPath(document, 'jwks_uri')),
    algorithms: asList(getPath(document, 'id_token_signing_alg_values_supported')).map(asText),
    namesIssuer: getPath(document, 'authorization_response_iss_parameter_supported') === true,
  }
}

/**
 * Returns why a document is invalid, or undefined. A document that lost an endpoint does not replace its predecessor.
 */
export function metadataError(
  found: ProfileMetadata,
  old: ProfileMetadata | undefined,
): string | undefined {
  if (found.issuer === '' || found.jwksUri === '') return 'no issuer or jwks_uri'
  const lost = (['authorizationEndpoint', 'tokenEndpoint'] as const).some(
    (name) => found[name] === '' && old !== undefined && old[name] !== '',
  )
  return lost ? 'an endpoint is missing' : undefined
}

function address(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url && ['https:', 'http:'].includes(url.protocol) ? asText(value) : ''
}
