/**
 * Cached metadata and keys of OpenID providers (OpenID Connect Discovery 1.0, RFC 7517). oauth4webapi is not used: it
 * requires one exact issuer and the JSON content type, which some providers do not have.
 */
import type { LocalJWKSet } from 'jose'

import { normalizeUri } from '../../schemas/values/uris.ts'
import type { Reply, Send } from '../core/http-types.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { Issuers, ProfileMetadata } from '../core/types.ts'
import { asList, asText, getPath } from '../http/json.ts'
import { quoted } from '../http/quoted.ts'
import { isProviderDown, noReplyAs, parseResponseJson } from '../http/request.ts'
import { createStaleCache, type Load } from '../http/stale-cache.ts'
import type { OAuth2Flow } from '../oauth/types.ts'
import { maxKeys, readKeySet } from './key-set.ts'

const coolDownMs = 30_000
/** Of a document. Those of providers have 5 KB, key sets with certificates up to 50 KB. */
const maxLength = 262_144

export function createIssuers(send: Send, lifetimeSeconds: number): Issuers {
  const lifetimeMs = lifetimeSeconds * 1000
  const documents = createStaleCache<ProfileMetadata>({ lifetimeMs, known: publishedMetadata })
  const keySets = createStaleCache<LocalJWKSet>({ lifetimeMs })

  return {
    async metadata(named, accepts, now, maxWaitMs) {
      const source = named instanceof URL ? named : toKey(named)
      const load: Load<ProfileMetadata> = (old) => loadMetadata(send, source, accepts, old)
      // Built-in metadata are keyed by issuer.
      const document = await documents.get(String(source), now, load, maxWaitMs)
      // It may have been loaded by a caller that accepts other issuers.
      if (accepts(document.issuer)) return document
      throw otherIssuer(source, document)
    },
    keys: (jwksUri, now) => keySets.get(jwksUri, now, () => loadKeys(send, jwksUri)),
    newerKeys: (jwksUri, now) =>
      keySets.renew(jwksUri, now, () => loadKeys(send, jwksUri), coolDownMs),
  }
}

/**
 * Tokens may write an issuer in any number of equal forms: each would be fetched, and would replace another issuer in
 * the cache. A slash at the end is not part of the document's address (OpenID Connect Discovery §4.1).
 */
function toKey(issuer: string): string {
  return (normalizeUri(issuer) ?? issuer).replace(/\/$/, '')
}

function documentUrl(source: string | URL): string {
  return source instanceof URL ? source.href : `${source}/.well-known/openid-configuration`
}

async function loadMetadata(
  send: Send,
  source: string | URL,
  accepts: (issuer: string) => boolean,
  old: ProfileMetadata | undefined,
): Promise<ProfileMetadata> {
  const { document, reply } = await load(send, documentUrl(source))
  const metadata = readIssuerMetadata(document)
  const fault = metadataError(metadata, old)
  if (fault !== undefined) throw new ProviderError('discovery', `${reply.address}: ${fault}`)
  if (!accepts(metadata.issuer)) throw otherIssuer(source, metadata)
  return metadata
}

async function loadKeys(send: Send, uri: string): Promise<LocalJWKSet> {
  const { document, reply } = await load(send, uri)
  const keys = readKeySet(document)
  if (keys) return keys
  throw new ProviderError(
    'discovery',
    `${reply.address}: no key set with a usable key and at most ${maxKeys} keys`,
  )
}

async function load(send: Send, url: string): Promise<{ document: unknown; reply: Reply }> {
  const reply = await send(url).catch(noReplyAs('discovery'))
  if (reply.body.length > maxLength) {
    throw new ProviderError('discovery', `${reply.address}: more than ${maxLength} characters`)
  }
  if (reply.ok) return { document: parseResponseJson(reply.body), reply }
  const message = `${reply.address}: status ${reply.status}`
  const providerMessage = quoted(reply.body)
  throw new ProviderError('discovery', message, { isDown: isProviderDown(reply), providerMessage })
}

function otherIssuer(source: string | URL, { issuer }: ProfileMetadata) {
  const [named, configured] = [issuer.slice(0, 200), String(source)].map((text) =>
    JSON.stringify(text),
  )
  return new ProviderError(
    'discovery',
    `the metadata of ${configured} is that of another issuer, ${named}`,
  )
}

/** Discovered endpoints, for the `endpoints` of a flow. */
export function discoveredEndpoints(
  issuers: Issuers,
  source: string | URL,
  accepts: (issuer: string) => boolean,
): OAuth2Flow['endpoints'] {
  return async (now, maxWaitMs) => {
    const metadata = await issuers.metadata(source, accepts, now, maxWaitMs)
    const { issuer, namesIssuer, authorizationEndpoint: authorize, tokenEndpoint: token } = metadata
    if (authorize && token) return { authorize, token, issuer, namesIssuer }
    throw new ProviderError('discovery', 'the metadata lacks an endpoint')
  }
}

/** By issuer. */
const publishedMetadata: ReadonlyMap<string, ProfileMetadata> = new Map([
  [
    'https://accounts.google.com',
    {
      issuer: 'https://accounts.google.com',
      authorizationEndpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
      tokenEndpoint: 'https://oauth2.googleapis.com/token',
      userinfoEndpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
      jwksUri: 'https://www.googleapis.com/oauth2/v3/certs',
      algorithms: ['RS256'],
      namesIssuer: false,
    },
  ],
  [
    'https://appleid.apple.com',
    {
      issuer: 'https://appleid.apple.com',
      authorizationEndpoint: 'https://appleid.apple.com/auth/authorize',
      tokenEndpoint: 'https://appleid.apple.com/auth/token',
      userinfoEndpoint: '',
      jwksUri: 'https://appleid.apple.com/auth/keys',
      algorithms: ['RS256'],
      namesIssuer: false,
    },
  ],
])

// Reads and validates OpenID provider metadata (OpenID Connect Discovery 1.0 §3).

/** A missing or unusable value becomes ''. */
function readIssuerMetadata(document: unknown): ProfileMetadata {
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
function metadataError(
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
