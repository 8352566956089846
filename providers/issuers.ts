/**
 * Metadata and keys of OpenID providers (OpenID Connect Discovery 1.0, RFC 7517), cached. They are not read by
 * oauth4webapi: it requires one exact issuer and the content type of JSON, which not every provider has.
 */
import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose'

import { NoReply, parseJson, type Reply, type Send } from './http.ts'
import { at, list, text } from './json.ts'
import type { Endpoints } from './oauth2.ts'
import { ProviderError } from './provider.ts'
import { createStaleCache } from './stale-cache.ts'

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

export interface Issuers {
  /** Throws ProviderError discovery when it cannot be had, or names an issuer not accepted. */
  metadata(url: string, accepts: (issuer: string) => boolean, now: Date): Promise<Metadata>
  keys(jwksUri: string, now: Date): Promise<LocalJWKSet>
  /** For a key id nobody knows: keys may have been rotated. At most one fetch in 30 s. */
  newerKeys(jwksUri: string, now: Date): Promise<LocalJWKSet>
}

const coolDownMs = 30_000

export function createIssuers(send: Send, lifetimeSeconds: number): Issuers {
  const documents = createStaleCache((url) => loadMetadata(send, url), lifetimeSeconds * 1000)
  const keySets = createStaleCache((uri) => loadKeys(send, uri), lifetimeSeconds * 1000)

  return {
    async metadata(url, accepts, now) {
      const document = await documents.get(url, now)
      if (accepts(document.issuer)) return document
      throw new ProviderError('discovery', `${hostOf(url)}: metadata of another issuer`)
    },
    keys: (jwksUri, now) => keySets.get(jwksUri, now),
    newerKeys: (jwksUri, now) => keySets.renew(jwksUri, now, coolDownMs),
  }
}

async function loadMetadata(send: Send, issuer: string): Promise<Metadata> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { document, reply } = await load(send, url)
  const metadata = {
    issuer: text(at(document, 'issuer')),
    authorizationEndpoint: text(at(document, 'authorization_endpoint')),
    tokenEndpoint: text(at(document, 'token_endpoint')),
    userinfoEndpoint: text(at(document, 'userinfo_endpoint')),
    jwksUri: text(at(document, 'jwks_uri')),
    algorithms: list(at(document, 'id_token_signing_alg_values_supported')).map(text),
    namesIssuer: at(document, 'authorization_response_iss_parameter_supported') === true,
  }
  if (metadata.issuer && metadata.jwksUri) return metadata
  throw new ProviderError('discovery', `${reply.address}: no issuer or jwks_uri`)
}

async function loadKeys(send: Send, uri: string): Promise<LocalJWKSet> {
  const { document, reply } = await load(send, uri)
  if (isKeySet(document)) return createLocalJWKSet(document)
  throw new ProviderError('discovery', `${reply.address}: no key set`)
}

async function load(send: Send, url: string): Promise<{ document: unknown; reply: Reply }> {
  try {
    const reply = await send(url)
    if (reply.ok) return { document: parseJson(reply.body), reply }
    throw new ProviderError('discovery', `${reply.address}: status ${reply.status}`)
  } catch (error) {
    if (error instanceof NoReply) throw new ProviderError('discovery', error.message)
    throw error
  }
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  const keys = at(value, 'keys')
  return Array.isArray(keys) && keys.every((key) => text(at(key, 'kty')) !== '')
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'an address that is no URL'
}

/** The endpoints that discovery names; for the `endpoints` of a flow. */
export function discoveredEndpoints(
  issuers: Issuers,
  url: string,
  accepts: (issuer: string) => boolean,
): (now: Date) => Promise<Endpoints> {
  return async (now) => {
    const metadata = await issuers.metadata(url, accepts, now)
    const { issuer, namesIssuer, authorizationEndpoint: authorize, tokenEndpoint: token } = metadata
    if (authorize && token) return { authorize, token, issuer, namesIssuer }
    throw new ProviderError('discovery', 'the metadata lacks an endpoint')
  }
}
