/** The metadata of an OpenID provider (OpenID Connect Discovery 1.0 §4), fetched when the provider is saved. */
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'

import { DiscoveryDocument } from '../../schemas/custom-provider.ts'
import { validationFailed } from '../../schemas/errors.ts'
import { isSameUri } from '../../schemas/values/uris.ts'

/** Of a text that the document contains. */
const maxShownLength = 200

/** Those of providers have 5 KB. */
const maxLength = 262_144

const quote = (text: string): string => JSON.stringify(text)

export interface DiscoverySource {
  issuer: string
  discovery_url: string | null
}

/** Throws validation_failed when the document is unavailable, or that of another issuer. */
export async function fetchDiscovery(
  { httpClient }: Pick<FastifyInstance, 'httpClient'>,
  { issuer, discovery_url: url }: DiscoverySource,
): Promise<DiscoveryDocument> {
  const address = url ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await fetchJson(httpClient, address)
  if (!Value.Check(DiscoveryDocument, document)) {
    throw validationFailed(
      'The discovery document must have issuer, authorization_endpoint, token_endpoint and jwks_uri',
    )
  }
  if (!isSameUri(document.issuer, issuer)) {
    const [named, entered] = [document.issuer.slice(0, maxShownLength), issuer].map(quote)
    throw validationFailed(
      `The discovery document is of the issuer ${named}, but ${entered} was entered. Enter the issuer exactly as in the document, if it is that of your provider.`,
    )
  }
  // The other fields are not stored.
  return Value.Clean(DiscoveryDocument, { ...document }) as DiscoveryDocument
}

async function fetchJson(httpClient: FastifyInstance['httpClient'], address: string) {
  try {
    const response = await httpClient.guardedFetch(address)
    if (!response.ok) throw new TypeError(`status ${response.status}`)
    const text = await response.text()
    if (text.length > maxLength) throw new TypeError(`more than ${maxLength} characters`)
    const document: unknown = JSON.parse(text)
    return document
  } catch (cause) {
    throw validationFailed('The discovery document of the provider cannot be fetched', 400, cause)
  }
}
