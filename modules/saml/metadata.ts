/** The metadata of identity providers: fetched, parsed once, and refreshed when stale. */
import type { FastifyInstance } from 'fastify'

import {
  listSsoProviders,
  type SsoProviderRow,
  storeFetchedMetadata,
} from '../../db/saml/providers.ts'
import { type IdpMetadata, readIdpMetadata } from '../../providers/saml/idp-metadata.ts'
import { SamlError } from '../../providers/saml/values.ts'
import { samlMetadataFetchFailed, validationFailed } from '../../schemas/errors.ts'

/** When the document has no cache duration. */
const defaultCacheSeconds = 86_400

const known = new Map<string, { xml: string; metadata: Promise<IdpMetadata> }>()

/**
 * Parsed once per provider and document. Throws validation_failed for metadata stored by GoTrue that this server does
 * not support, such as a provider without a redirect binding.
 */
export function getSamlMetadata({
  id,
  metadata_xml: xml,
}: Pick<SsoProviderRow, 'id' | 'metadata_xml'>): Promise<IdpMetadata> {
  const found = known.get(id)
  if (found?.xml === xml) return found.metadata
  const metadata = parseSamlMetadata(xml)
  known.set(id, { xml, metadata })
  return metadata
}

/** Throws validation_failed. */
async function parseSamlMetadata(xml: string): Promise<IdpMetadata> {
  try {
    return await readIdpMetadata(xml)
  } catch (error) {
    if (!(error instanceof SamlError)) throw error
    throw validationFailed(`The SAML metadata cannot be used: ${error.message}`)
  }
}

/** Throws validation_failed, also for a document that has expired. */
export async function parseCurrentMetadata(xml: string, now: Date): Promise<IdpMetadata> {
  const metadata = await parseSamlMetadata(xml)
  if (!isMetadataExpired(metadata, now)) return metadata
  throw validationFailed(
    'The SAML metadata cannot be used: it has expired (validUntil). Send a current document.',
  )
}

/** An expired document must not be used (SAML 2.0 Metadata §2.3.1). */
export function isMetadataExpired({ expiresAt }: IdpMetadata, now: Date): boolean {
  return expiresAt !== undefined && expiresAt <= now
}

/** Throws validation_failed for a URL that is not https, saml_metadata_fetch_failed. */
export async function fetchMetadata(
  { httpClient }: Pick<FastifyInstance, 'httpClient'>,
  address: string,
): Promise<string> {
  if (!address.startsWith('https://') || !URL.canParse(address)) {
    throw validationFailed('metadata_url must be an https URL')
  }
  try {
    const response = await httpClient.guardedFetch(address)
    if (!response.ok) throw new TypeError(`status ${response.status}`)
    return await response.text()
  } catch (cause) {
    throw samlMetadataFetchFailed(cause)
  }
}

/** Whether the document has expired, or was fetched a day ago without an expiry. */
export function isStale(
  { metadata_url: url, metadata_read_at: readAt }: SsoProviderRow,
  metadata: IdpMetadata,
  now: Date,
): boolean {
  if (!url || !readAt) return false
  if (isMetadataExpired(metadata, now)) return true
  const { expiresAt, cacheSeconds } = metadata
  const isDated = expiresAt !== undefined && cacheSeconds === undefined
  const lifetimeSeconds = cacheSeconds ?? defaultCacheSeconds
  return !isDated && readAt.getTime() + lifetimeSeconds * 1000 <= now.getTime()
}

/** The last refresh by provider. */
const refreshes = new Map<string, { at: number; url: string; outcome: Promise<boolean> }>()
const retryMs = 60_000

/**
 * Fetches the document again and stores it if it belongs to the same provider and has not expired. A failure is logged,
 * and the stored document stays. There is one fetch a minute, because anyone can post a response that triggers it, and
 * the fetched document may be stale as well.
 */
export function refreshMetadata(
  app: FastifyInstance,
  provider: SsoProviderRow,
  now: Date,
): Promise<boolean> {
  const { id, metadata_url: url } = provider
  if (!url) return Promise.resolve(false)
  const last = refreshes.get(id)
  if (last?.url === url && now.getTime() - last.at < retryMs) return last.outcome
  const outcome = fetchAndStore(app, provider, url, now)
  refreshes.set(id, { at: now.getTime(), url, outcome })
  return outcome
}

async function fetchAndStore(
  app: FastifyInstance,
  { id, entity_id }: SsoProviderRow,
  url: string,
  now: Date,
): Promise<boolean> {
  try {
    const xml = await fetchMetadata(app, url)
    const { entityId } = await parseCurrentMetadata(xml, now)
    if (entityId !== entity_id) throw new SamlError('it is of another provider')
    return await storeFetchedMetadata(app.db, id, { url, xml }, now)
  } catch (error) {
    const details = { err: error, sso_provider_id: id }
    app.log.warn(
      details,
      'SAML metadata refresh failed, the stored document stays until it expires',
    )
    return false
  }
}

/** Refreshes every provider with a stale document, one after another. Logs those whose document has expired. */
export async function refreshStaleMetadata(app: FastifyInstance, now: Date): Promise<void> {
  for (const provider of await listSsoProviders(app.db, {})) {
    const metadata = await getSamlMetadata(provider).catch(() => undefined)
    if (!metadata || provider.disabled) continue
    const isOld = isStale(provider, metadata, now)
    if (isOld && (await refreshMetadata(app, provider, now))) continue
    if (!isMetadataExpired(metadata, now)) continue
    const details = { sso_provider_id: provider.id, valid_until: metadata.expiresAt }
    app.log.warn(details, 'SAML metadata expired, sign-ins are rejected')
  }
}
