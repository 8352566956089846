/** Reads and judges the metadata of an OpenID provider (OpenID Connect Discovery 1.0 §3). */
import { at, list, text } from './json.ts'

export interface Metadata {
  issuer: string
  authorizationEndpoint: string
  tokenEndpoint: string
  userinfoEndpoint: string
  jwksUri: string
  algorithms: readonly string[]
  /** Whether every callback carries an `iss` (RFC 9207 §3). */
  namesIssuer: boolean
}

/** What is missing or unusable becomes ''. */
export function readMetadata(document: unknown): Metadata {
  return {
    issuer: text(at(document, 'issuer')),
    authorizationEndpoint: address(at(document, 'authorization_endpoint')),
    tokenEndpoint: address(at(document, 'token_endpoint')),
    userinfoEndpoint: address(at(document, 'userinfo_endpoint')),
    jwksUri: address(at(document, 'jwks_uri')),
    algorithms: list(at(document, 'id_token_signing_alg_values_supported')).map(text),
    namesIssuer: at(document, 'authorization_response_iss_parameter_supported') === true,
  }
}

/** Why the document is not to be used, or undefined. One that has lost an endpoint does not replace the one before. */
export function faultOfMetadata(found: Metadata, old: Metadata | undefined): string | undefined {
  if (found.issuer === '' || found.jwksUri === '') return 'no issuer or jwks_uri'
  const lost = (['authorizationEndpoint', 'tokenEndpoint'] as const).some(
    (name) => found[name] === '' && old !== undefined && old[name] !== '',
  )
  return lost ? 'an endpoint is gone' : undefined
}

function address(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url && ['https:', 'http:'].includes(url.protocol) ? text(value) : ''
}
