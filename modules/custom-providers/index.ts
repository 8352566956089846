/** Providers that admins create at run time. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import {
  bindIssuer,
  type CustomProviderOptions,
  type CustomProviderRow,
  countCustomProviders,
  deleteCustomProvider,
  deleteTenantProvider,
  insertCustomProvider,
  insertTenantProvider,
  isBoundProvider,
  isTenantProvider,
  lockCustomProvider,
  updateCustomProvider,
  upsertProviderOptions,
} from '../../db/custom-providers/providers.ts'
import type { CustomProviderInput, DiscoveryDocument } from '../../schemas/custom-provider.ts'
import {
  customProviderConflict,
  customProviderNotFound,
  overCustomProviderQuota,
  validationFailed,
} from '../../schemas/errors.ts'
import { type DiscoverySource, fetchDiscovery } from './discovery.ts'
import {
  checkCustomProviderFields,
  checkUrls,
  type NewProvider,
  readNewProvider,
  toProviderColumns,
  withScopes,
} from './rules.ts'

export { checkIdentifier } from './rules.ts'

/** A validated request with the fetched documents: nothing is fetched inside a transaction. */
interface PreparedProvider extends NewProvider {
  discovery: DiscoveryDocument | undefined
}

/** Throws validation_failed. */
export async function prepareNew(
  app: Pick<FastifyInstance, 'httpClient'>,
  input: CustomProviderInput,
): Promise<PreparedProvider> {
  const provider = readNewProvider(input)
  checkCustomProviderFields(input)
  await checkUrls(app, input)
  const { provider_type, issuer, discovery_url } = provider
  const source = { issuer: issuer ?? '', discovery_url: discovery_url ?? null }
  const discovery = provider_type === 'oidc' ? await fetchDiscovery(app, source) : undefined
  return { ...provider, discovery }
}

/** Throws over_custom_provider_quota, and conflict for an identifier in use or with identities of another issuer. */
export async function createCustomProvider(
  {
    config,
    encryption,
    gotrueMigration,
  }: Pick<FastifyInstance, 'config' | 'encryption' | 'gotrueMigration'>,
  trx: Trx,
  { discovery, client_secret: secret, ...provider }: PreparedProvider,
  now: Date,
): Promise<CustomProviderRow> {
  const { AUTH_CUSTOM_OAUTH_MAX_PROVIDERS: max } = config
  if (max > 0 && (await countCustomProviders(trx)) >= max) throw overCustomProviderQuota(max)
  const { provider_type: type } = provider
  const id = crypto.randomUUID()
  const row = await insertCustomProvider(trx, {
    ...withScopes(type, toProviderColumns(type, { scopes: [], ...provider })),
    id,
    provider_type: type,
    identifier: provider.identifier,
    name: provider.name,
    client_id: provider.client_id,
    client_secret: encryption.seal(id, secret),
    ...discoveryColumns(discovery, now),
    created_at: now,
    updated_at: now,
  })
  if (!row) throw customProviderConflict('A provider with this identifier already exists')
  await requireSameIssuer(trx, row)
  // A GoTrue that shares the database starts sign-ins with the shared redirect URI.
  const before = { own_callback: !gotrueMigration.isShared, id_token_signed_response_alg: null }
  const options = toProviderOptions({ type, secret, before }, provider)
  const stored = await upsertProviderOptions(trx, { provider_id: row.id, ...options })
  const organization_bound = await setTenant(trx, row.identifier, provider, now)
  return { ...row, ...stored, organization_bound }
}

/** In the error for a key that is missing. */
const secretName = 'The secret of a custom provider'

interface PreparedChange {
  input: CustomProviderInput
  source: DiscoverySource | undefined
  discovery: DiscoveryDocument | undefined
}

/** Prepares an update of the current provider. Throws validation_failed. */
export async function prepareChange(
  app: FastifyInstance,
  provider: CustomProviderRow,
  input: CustomProviderInput,
): Promise<PreparedChange> {
  checkCustomProviderFields(input)
  await checkUrls(app, input)
  const source = sourceAfter(provider, input)
  const isMoved = Boolean(input.issuer) || input.discovery_url !== undefined
  if (!source || !isMoved) return { input, source: undefined, discovery: undefined }
  return { input, source, discovery: await fetchDiscovery(app, source) }
}

/**
 * Absent and empty fields are unchanged. Throws custom_provider_not_found, and conflict after a concurrent update or
 * for another issuer than that of the identities.
 */
export async function changeCustomProvider(
  { encryption }: FastifyInstance,
  trx: Trx,
  identifier: string,
  { input, source, discovery }: PreparedChange,
  now: Date,
): Promise<{ before: CustomProviderRow; after: CustomProviderRow }> {
  const before = await lockProvider(trx, identifier)
  const today = sourceAfter(before, input)
  if (source && (today?.issuer !== source.issuer || today.discovery_url !== source.discovery_url)) {
    throw customProviderConflict('The provider was changed by another request. Try again.')
  }
  const { client_secret: secret } = input
  const { provider_type: type } = before
  const after = await updateCustomProvider(trx, before.id, {
    ...withScopes(type, toProviderColumns(type, input)),
    ...(secret && { client_secret: encryption.seal(before.id, secret) }),
    ...(discovery && discoveryColumns(discovery, now)),
    updated_at: now,
  })
  await requireSameIssuer(trx, after)
  const current = encryption.decrypt(after.id, after.client_secret, secretName)
  const options = toProviderOptions({ type, secret: current, before }, input)
  const stored = await upsertProviderOptions(trx, { provider_id: after.id, ...options })
  const organization_bound = await setTenant(trx, identifier, input, now)
  return { before, after: { ...after, ...stored, organization_bound } }
}

/**
 * Whether the provider is one of a tenant, as before unless the request says otherwise. Throws conflict while an
 * organization has the provider.
 */
async function setTenant(
  trx: Trx,
  identifier: string,
  { organization_bound: isRequested }: CustomProviderInput,
  now: Date,
): Promise<boolean> {
  if (isRequested) await insertTenantProvider(trx, identifier, now)
  if (isRequested === false) {
    if (await isBoundProvider(trx, identifier)) {
      throw customProviderConflict(
        'An organization has this provider. Delete its connection before organization_bound is set to false.',
      )
    }
    await deleteTenantProvider(trx, identifier)
  }
  return isTenantProvider(trx, identifier)
}

/**
 * A user id of one issuer names another user at another issuer, who could then sign in to the wrong account. Throws
 * conflict while the provider has identities of another issuer, also those of a deleted provider with the same
 * identifier.
 */
async function requireSameIssuer(
  trx: Trx,
  {
    identifier,
    provider_type,
    issuer,
    userinfo_url,
  }: Pick<CustomProviderRow, 'identifier' | 'provider_type' | 'issuer' | 'userinfo_url'>,
): Promise<void> {
  const [field, value] =
    provider_type === 'oidc' ? ['issuer', issuer] : ['userinfo_url', userinfo_url]
  if (await bindIssuer(trx, { identifier, issuer: value ?? '' })) return
  throw customProviderConflict(
    `Users have identities of ${identifier} from another ${field}. Choose another identifier for this provider.`,
  )
}

/** Users and identities are kept. Throws custom_provider_not_found. */
export async function removeCustomProvider(
  trx: Trx,
  identifier: string,
): Promise<CustomProviderRow> {
  const row = await lockProvider(trx, identifier)
  await deleteCustomProvider(trx, row.id)
  return row
}

async function lockProvider(trx: Trx, identifier: string): Promise<CustomProviderRow> {
  const row = await lockCustomProvider(trx, identifier)
  if (!row) throw customProviderNotFound()
  return row
}

function sourceAfter(
  { provider_type, issuer, discovery_url }: CustomProviderRow,
  input: CustomProviderInput,
): DiscoverySource | undefined {
  if (provider_type !== 'oidc') return undefined
  const url = input.discovery_url === undefined ? discovery_url : input.discovery_url || null
  return { issuer: input.issuer || (issuer ?? ''), discovery_url: url }
}

function discoveryColumns(discovery: DiscoveryDocument | undefined, now: Date) {
  return {
    cached_discovery: discovery ? JSON.stringify(discovery) : null,
    discovery_cached_at: discovery ? now : null,
  }
}

// The options of a provider that GoTrue's table has no column for.

interface Provider {
  type: 'oauth2' | 'oidc'
  /** After the change. */
  secret: string
  /** The defaults for a new provider. */
  before: CustomProviderOptions
}

/** RFC 7518 §3.2: a key of HS256 has at least as many bits as the hash. */
const minHs256SecretBytes = 32

/** Returns the options after a change; absent fields are unchanged. Throws validation_failed. */
function toProviderOptions(
  provider: Provider,
  { shared_callback, id_token_signed_response_alg: alg }: CustomProviderInput,
): CustomProviderOptions {
  const { before } = provider
  return {
    own_callback: hasOwnCallback(before, shared_callback),
    id_token_signed_response_alg: readAlgorithm(provider, alg),
  }
}

/** A provider with a redirect URI of its own keeps it: sharing one again would allow mix-up attacks. */
function hasOwnCallback(
  { own_callback }: CustomProviderOptions,
  isShared = !own_callback,
): boolean {
  if (own_callback && isShared) {
    throw validationFailed('shared_callback cannot be true: register callback_url at the provider')
  }
  return !isShared
}

function readAlgorithm(
  { type, secret, before }: Provider,
  alg: string = before.id_token_signed_response_alg ?? '',
): 'HS256' | null {
  if (alg === '') return null
  if (type !== 'oidc' || alg !== 'HS256') {
    throw validationFailed(
      'id_token_signed_response_alg must be HS256, or empty, for a provider of the type oidc',
    )
  }
  if (Buffer.byteLength(secret) < minHs256SecretBytes) {
    throw validationFailed(
      `id_token_signed_response_alg HS256 requires a client_secret of at least ${minHs256SecretBytes} bytes (RFC 7518 §3.2)`,
    )
  }
  return 'HS256'
}
