/**
 * Metadata and keys of OpenID providers (OpenID Connect Discovery 1.0, RFC 7517), cached. They are not read by
 * oauth4webapi: it requires one exact issuer and the content type of JSON, which not every provider has.
 */
import type { LocalJWKSet } from 'jose'

import { isDown, parseJson, type Reply, type Send } from './http.ts'
import { readKeySet } from './key-set.ts'
import { faultOfMetadata, type Metadata, readMetadata } from './metadata.ts'
import { noReplyAs } from './no-reply.ts'
import type { OAuth2Flow } from './oauth2.ts'
import { ProviderError } from './provider.ts'
import { publishedMetadata } from './published-metadata.ts'
import { quoted } from './said.ts'
import { createStaleCache, type Load } from './stale-cache.ts'

export interface Issuers {
  /**
   * Where there is an older copy, a newer one is waited for `patienceMs` at most.
   * Throws ProviderError discovery when it cannot be had, or names an issuer not accepted.
   */
  metadata(
    url: string,
    accepts: (issuer: string) => boolean,
    now: Date,
    patienceMs?: number,
  ): Promise<Metadata>
  keys(jwksUri: string, now: Date): Promise<LocalJWKSet>
  /** For a token that none of them has signed: keys may have been rotated. At most one fetch in 30 s. */
  newerKeys(jwksUri: string, now: Date): Promise<LocalJWKSet>
}

const coolDownMs = 30_000

export function createIssuers(send: Send, lifetimeSeconds: number): Issuers {
  const lifetimeMs = lifetimeSeconds * 1000
  const documents = createStaleCache<Metadata>({ lifetimeMs, known: publishedMetadata })
  const keySets = createStaleCache<LocalJWKSet>({ lifetimeMs })

  return {
    async metadata(url, accepts, now, patienceMs) {
      const load: Load<Metadata> = (old) => loadMetadata(send, url, accepts, old)
      const document = await documents.get(url, now, load, patienceMs)
      // It may have been loaded for somebody who accepts others.
      if (accepts(document.issuer)) return document
      throw otherIssuer(url)
    },
    keys: (jwksUri, now) => keySets.get(jwksUri, now, () => loadKeys(send, jwksUri)),
    newerKeys: (jwksUri, now) =>
      keySets.renew(jwksUri, now, () => loadKeys(send, jwksUri), coolDownMs),
  }
}

async function loadMetadata(
  send: Send,
  issuer: string,
  accepts: (issuer: string) => boolean,
  old: Metadata | undefined,
): Promise<Metadata> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { document, reply } = await load(send, url)
  const metadata = readMetadata(document)
  const fault = faultOfMetadata(metadata, old)
  if (fault !== undefined) throw new ProviderError('discovery', `${reply.address}: ${fault}`)
  if (!accepts(metadata.issuer)) throw otherIssuer(issuer)
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
  if (reply.ok) return { document: parseJson(reply.body), reply }
  const message = `${reply.address}: status ${reply.status}`
  const said = quoted(reply.body)
  throw new ProviderError('discovery', message, { isDown: isDown(reply), said })
}

function otherIssuer(url: string) {
  const host = URL.parse(url)?.host ?? 'an address that is no URL'
  return new ProviderError('discovery', `${host}: metadata of another issuer`)
}

/** The endpoints that discovery names; for the `endpoints` of a flow. */
export function discoveredEndpoints(
  issuers: Issuers,
  url: string,
  accepts: (issuer: string) => boolean,
): OAuth2Flow['endpoints'] {
  return async (now, patienceMs) => {
    const metadata = await issuers.metadata(url, accepts, now, patienceMs)
    const { issuer, namesIssuer, authorizationEndpoint: authorize, tokenEndpoint: token } = metadata
    if (authorize && token) return { authorize, token, issuer, namesIssuer }
    throw new ProviderError('discovery', 'the metadata lacks an endpoint')
  }
}
