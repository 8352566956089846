/** Admin operations on identity providers. */
import { domainToASCII } from 'node:url'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/errors.ts'
import {
  deleteSsoProvider,
  findSsoProvider,
  insertSsoProvider,
  lockSsoProvider,
  replaceSsoDomains,
  type SamlColumns,
  type SsoProviderRow,
  setIdpInitiated,
  updateSamlProvider,
  updateSsoProvider,
} from '../../db/saml/providers.ts'
import {
  samlEntityIdMismatch,
  samlIdpAlreadyExists,
  ssoDomainAlreadyExists,
  ssoProviderConflict,
  ssoProviderNotFound,
  validationFailed,
} from '../../schemas/errors.ts'
import type { SsoProviderInput } from '../../schemas/sso-provider.ts'
import { fetchMetadata, parseCurrentMetadata } from './metadata.ts'
import { textClaims } from './subject.ts'

/** A validated request with its metadata: nothing is fetched inside a transaction. */
interface PreparedSso {
  input: SsoProviderInput
  domains: string[] | undefined
  metadata: { xml: string; entityId: string } | undefined
}

/** Throws validation_failed, sso_domain_already_exists, saml_metadata_fetch_failed. */
export async function prepareProvider(
  app: Pick<FastifyInstance, 'httpClient'>,
  input: SsoProviderInput,
  now: Date,
): Promise<PreparedSso> {
  const { metadata_xml: xml, metadata_url: url } = input
  if (xml && url) throw validationFailed('Send metadata_xml or metadata_url, not both')
  checkSamlFields(input)
  const domains = input.domains && readDomains(input.domains)
  const document = url ? await fetchMetadata(app, url) : xml
  if (!document) return { input, domains, metadata: undefined }
  const { entityId } = await parseCurrentMetadata(document, now)
  return { input, domains, metadata: { xml: document, entityId } }
}

/** Throws validation_failed, saml_idp_already_exists, sso_domain_already_exists, conflict. */
export async function createSamlProvider(
  trx: Trx,
  { input, domains = [], metadata }: PreparedSso,
  now: Date,
): Promise<SsoProviderRow> {
  if (input.type !== 'saml') throw validationFailed('type must be saml')
  if (!metadata) throw validationFailed('metadata_xml or metadata_url is required')
  const id = crypto.randomUUID()
  const { resource_id, disabled = null } = input
  const saml = { ...toColumns(input), entity_id: metadata.entityId, metadata_xml: metadata.xml }
  return written(trx, id, async () => {
    await insertSsoProvider(trx, { id, resource_id: resource_id || null, disabled, ...saml }, now)
    await replaceSsoDomains(trx, id, domains, now)
    await setOptions(trx, id, input)
  })
}

/**
 * Absent fields are unchanged. Throws sso_provider_not_found, saml_entity_id_mismatch, sso_domain_already_exists,
 * conflict.
 */
export async function changeSamlProvider(
  trx: Trx,
  id: string,
  { input, domains, metadata }: PreparedSso,
  now: Date,
): Promise<{ before: SsoProviderRow; after: SsoProviderRow }> {
  const before = await lockSsoProvider(trx, id)
  if (!before) throw ssoProviderNotFound()
  if (metadata && metadata.entityId !== before.entity_id) throw samlEntityIdMismatch()
  const { resource_id, disabled } = input
  const after = await written(trx, id, async () => {
    const change = {
      ...(resource_id !== undefined && { resource_id: resource_id || null }),
      ...(disabled !== undefined && { disabled }),
    }
    await updateSsoProvider(trx, id, change, now)
    const saml = { ...toColumns(input), ...(metadata && { metadata_xml: metadata.xml }) }
    if (Object.keys(saml).length > 0) await updateSamlProvider(trx, id, saml, now)
    if (domains) await replaceSsoDomains(trx, id, domains, now)
    await setOptions(trx, id, input)
  })
  return { before, after }
}

/** Users and sessions are kept. Throws sso_provider_not_found. */
export async function removeSamlProvider(trx: Trx, id: string): Promise<SsoProviderRow> {
  const row = await lockSsoProvider(trx, id)
  if (!row) throw ssoProviderNotFound()
  await deleteSsoProvider(trx, id)
  return row
}

async function setOptions(trx: Trx, id: string, { idp_initiated }: SsoProviderInput) {
  if (idp_initiated === undefined) return
  await setIdpInitiated(trx, id, idp_initiated === 'default' ? null : idp_initiated)
}

function toColumns(input: SsoProviderInput): SamlColumns {
  const { attribute_mapping: mapping, name_id_format: format, metadata_xml: xml } = input
  return {
    // Metadata sent inline is not fetched again.
    ...(xml && { metadata_url: null }),
    ...(input.metadata_url && { metadata_url: input.metadata_url }),
    ...(mapping && { attribute_mapping: JSON.stringify(mapping) }),
    ...(format !== undefined && { name_id_format: format || null }),
  }
}

/** In lower case and ASCII (RFC 5891), as stored and looked up. */
function readDomains(domains: readonly string[]): string[] {
  const read = domains.map(normalizeDomain)
  if (new Set(read).size < read.length) {
    throw ssoDomainAlreadyExists('A domain is in the list twice')
  }
  return read
}

/** Throws validation_failed. */
export function normalizeDomain(domain: string): string {
  const ascii = domainToASCII(domain.trim().toLowerCase())
  if (ascii !== '' && ascii.length <= 253) return ascii
  throw validationFailed('A domain must be a name such as example.com')
}

async function written(trx: Trx, id: string, write: () => Promise<void>): Promise<SsoProviderRow> {
  try {
    await write()
  } catch (error) {
    throw isUniqueViolation(error) ? toConflict(error.constraint ?? '') : error
  }
  const row = await findSsoProvider(trx, id)
  if (!row) throw ssoProviderNotFound()
  return row
}

function toConflict(constraint: string) {
  if (constraint.startsWith('sso_domains')) {
    return ssoDomainAlreadyExists('Another provider has one of these domains')
  }
  if (constraint.startsWith('saml_providers')) return samlIdpAlreadyExists()
  return ssoProviderConflict()
}

const nameIdFormats = [
  'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
]

/** Validates an identity provider's fields from an admin. Throws validation_failed. */
function checkSamlFields({ name_id_format: format, attribute_mapping }: SsoProviderInput): void {
  if (format && !nameIdFormats.includes(format)) {
    throw validationFailed(`name_id_format must be one of ${nameIdFormats.join(', ')}`)
  }
  for (const [claim, rule] of Object.entries(attribute_mapping?.keys ?? {})) {
    if (claim !== 'email' && !textClaims.includes(claim)) continue
    const isText = rule.default === undefined || typeof rule.default === 'string'
    if (rule.array || !isText) {
      throw validationFailed(`attribute_mapping: ${claim} must be a single string`)
    }
  }
}
