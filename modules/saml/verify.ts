/** Verifies that a posted response is from a known provider, and intended for this server, time and sign-in. */
import { createHash } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import { isUnreadable } from '../../db/core/stored-json.ts'
import {
  findSsoProvider,
  findSsoProviderByEntityId,
  type SsoProviderRow,
} from '../../db/saml/providers.ts'
import type { RelayStateRow } from '../../db/saml/relay-states.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import { readResponse, type SamlResponse, verifyResponse } from '../../providers/saml/response.ts'
import { SamlError } from '../../providers/saml/values.ts'
import type { XmlElement } from '../../providers/saml/xml.ts'
import {
  samlIdpNotFound,
  samlMetadataExpired,
  samlResponseInvalid,
  ssoProviderDisabled,
  validationFailed,
} from '../../schemas/errors.ts'
import { checkAssertion, checkResponse, type Expected } from './checks.ts'
import { getSamlMetadata, isMetadataExpired, isStale, refreshMetadata } from './metadata.ts'
import { type ProviderSession, readProviderSession } from './provider-session.ts'
import { getServiceProvider } from './service-provider.ts'
import { readSubject } from './subject.ts'

export async function readPosted(posted: string, { log }: FastifyInstance): Promise<SamlResponse> {
  if (posted === '') throw validationFailed('SAMLResponse is missing')
  return accepted(() => readResponse(posted), log)
}

/** Error messages are our own and quote nothing of the document, so they may be shown. */
export async function accepted<T>(work: () => Promise<T>, log: FastifyInstance['log']): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SamlError)) throw error
    const cause = error.cause instanceof SamlError ? error.cause.message : undefined
    log.info({ reason: error.message, cause }, 'SAML message rejected')
    throw samlResponseInvalid(error.message)
  }
}

export async function findProvider(
  { db }: FastifyInstance,
  relay: RelayStateRow | undefined,
  { issuer }: Pick<SamlResponse, 'issuer'>,
): Promise<SsoProviderRow> {
  const provider = relay
    ? await findSsoProvider(db, relay.sso_provider_id)
    : await findSsoProviderByEntityId(db, issuer)
  return requireEnabled(provider)
}

/** Throws saml_idp_not_found and sso_provider_disabled. */
export function requireEnabled(provider: SsoProviderRow | undefined): SsoProviderRow {
  if (!provider) throw samlIdpNotFound()
  if (provider.disabled) throw ssoProviderDisabled()
  return provider
}

export interface VerifiedSamlResponse {
  identity: ProviderIdentity
  session: ProviderSession
  replayKey: string
  usableUntil: Date
}

export async function verify(
  app: FastifyInstance,
  stored: SsoProviderRow,
  relay: RelayStateRow | undefined,
  response: SamlResponse,
  now: Date,
): Promise<VerifiedSamlResponse> {
  const provider = await upToDate(app, stored, now)
  const { certificates } = await getSamlMetadata(provider)
  const { entityId, acsUrl, privateKeys } = getServiceProvider(app)
  const decryptionKeys = app.config.AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS ? privateKeys : []
  const issuer = provider.entity_id
  const expected: Expected = { entityId, acsUrl, issuer, requestId: relay?.request_id, now }
  return accepted(async () => {
    const { assertion, isResponseSigned } = await verifyResponse(response, {
      certificates,
      decryptionKeys,
    })
    if (response.issuer !== issuer) throw new SamlError('it has another issuer')
    checkResponse({ ...response, isSigned: isResponseSigned }, expected)
    const usableUntil = checkAssertion(assertion, expected)
    const mapping = provider.attribute_mapping
    if (mapping && isUnreadable(mapping)) throw new SamlError('its attribute_mapping is unreadable')
    const identity = readSubject(assertion, { issuer, mapping })
    const session = readProviderSession(assertion)
    checkSessionEnd(session, now)
    return { identity, session, usableUntil, replayKey: createReplayKey(issuer, assertion) }
  }, app.log)
}

/** The provider with metadata that may be used. Throws saml_metadata_expired. */
export async function upToDate(
  app: FastifyInstance,
  provider: SsoProviderRow,
  now: Date,
): Promise<SsoProviderRow> {
  const metadata = await getSamlMetadata(provider)
  const isRenewed = isStale(provider, metadata, now) && (await refreshMetadata(app, provider, now))
  const renewed = isRenewed ? await findSsoProvider(app.db, provider.id) : undefined
  if (renewed) return renewed
  if (isMetadataExpired(metadata, now)) throw samlMetadataExpired()
  return provider
}

function checkSessionEnd({ end }: ProviderSession, now: Date): void {
  if (end && end <= now) throw new SamlError('the session at the provider has expired')
}

/** The replay key of an assertion or message, which is accepted once. */
export function createReplayKey(issuer: string, element: XmlElement): string {
  const name = JSON.stringify([issuer, element.getAttribute('ID')])
  return `saml:${createHash('sha256').update(name).digest('base64url')}`
}
