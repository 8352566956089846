/** The metadata of an OpenID provider (OpenID Connect Discovery 1.0 §4), fetched when the provider is saved. */
import { Value } from '@sinclair/typebox/value'

import type { Deps } from '../../plugins/define-plugin.ts'
import { DiscoveryDocument } from '../../schemas/custom-provider.ts'
import { validationFailed } from '../../schemas/errors.ts'

export interface DiscoverySource {
  issuer: string
  discovery_url: string | null
}

/** Throws validation_failed when the document is unavailable, or that of another issuer. */
export async function fetchDiscovery(
  { httpClient }: Deps<'httpClient'>,
  { issuer, discovery_url: url }: DiscoverySource,
): Promise<DiscoveryDocument> {
  const address = url ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await fetchJson(httpClient, address)
  if (!Value.Check(DiscoveryDocument, document)) {
    throw validationFailed(
      'The discovery document must have issuer, authorization_endpoint, token_endpoint and jwks_uri',
    )
  }
  if (document.issuer !== issuer) {
    throw validationFailed('The discovery document belongs to another issuer than the one entered')
  }
  // The other fields are not stored.
  return Value.Clean(DiscoveryDocument, { ...document }) as DiscoveryDocument
}

async function fetchJson(httpClient: Deps<'httpClient'>['httpClient'], address: string) {
  try {
    const response = await httpClient.guardedFetch(address)
    if (!response.ok) throw new TypeError(`status ${response.status}`)
    const document: unknown = await response.json()
    return document
  } catch (cause) {
    throw validationFailed('The discovery document of the provider cannot be fetched', 400, cause)
  }
}
