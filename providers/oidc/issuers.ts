/**
 * Cached metadata and keys of OpenID providers (OpenID Connect Discovery 1.0, RFC 7517). oauth4webapi is not used: it
 * requires one exact issuer and the JSON content type, which some providers do not have.
 */
import type { LocalJWKSet } from 'jose'

import type { Reply, Send } from '../core/http-types.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { Issuers, ProfileMetadata } from '../core/types.ts'
import { noReplyAs } from '../http/no-response.ts'
import { quoted } from '../http/quoted.ts'
import { isProviderDown, parseResponseJson } from '../http/request.ts'
import { createStaleCache, type Load } from '../http/stale-cache.ts'
import type { OAuth2Flow } from '../oauth/types.ts'
import { readKeySet } from './key-set.ts'
import { metadataError, readIssuerMetadata } from './metadata.ts'
import { publishedMetadata } from './published-metadata.ts'

const coolDownMs = 30_000

export function createIssuers(send: Send, lifetimeSeconds: number): Issuers {
  const lifetimeMs = lifetimeSeconds * 1000
  const documents = createStaleCache<ProfileMetadata>({ lifetimeMs, known: publishedMetadata })
  const keySets = createStaleCache<LocalJWKSet>({ lifetimeMs })

  return {
    async metadata(source, accepts, now, maxWaitMs) {
      const url = documentUrl(source)
      const load: Load<ProfileMetadata> = (old) => loadMetadata(send, url, accepts, old)
      // Built-in metadata are keyed by issuer.
      const document = await documents.get(String(source), now, load, maxWaitMs)
      // It may have been loaded by a caller that accepts other issuers.
      if (accepts(document.issuer)) return document
      throw otherIssuer(url)
    },
    keys: (jwksUri, now) => keySets.get(jwksUri, now, () => loadKeys(send, jwksUri)),
    newerKeys: (jwksUri, now) =>
      keySets.renew(jwksUri, now, () => loadKeys(send, jwksUri), coolDownMs),
  }
}

function documentUrl(source: string | URL): string {
  if (source instanceof URL) return source.href
  return `${source.replace(/\/$/, '')}/.well-known/openid-configuration`
}

async function loadMetadata(
  send: Send,
  url: string,
  accepts: (issuer: string) => boolean,
  old: ProfileMetadata | undefined,
): Promise<ProfileMetadata> {
  const { document, reply } = await load(send, url)
  const metadata = readIssuerMetadata(document)
  const fault = metadataError(metadata, old)
  if (fault !== undefined) throw new ProviderError('discovery', `${reply.address}: ${fault}`)
  if (!accepts(metadata.issuer)) throw otherIssuer(url)
  return metadata
}

async function loadKeys(send: Send, uri: string): Promise<LocalJWKSet> {
  const { document, reply } = await load(send, uri)
  const keys = readKeySet(document)
  if (keys) return keys
  throw new ProviderError('discovery', `${reply.address}: no key set with a usable key`)
}

async function load(send: Send, url: string): Promise<{ document: unknown; reply: Reply }> {
  const reply = await send(url).catch(noReplyAs('discovery'))
  if (reply.ok) return { document: parseResponseJson(reply.body), reply }
  const message = `${reply.address}: status ${reply.status}`
  const providerMessage = quoted(reply.body)
  throw new ProviderError('discovery', message, { isDown: isProviderDown(reply), providerMessage })
}

function otherIssuer(url: string) {
  const host = URL.parse(url)?.host ?? 'an invalid URL'
  return new ProviderError('discovery', `${host}: the metadata belongs to another issuer`)
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
