/** Admin operations on custom providers. */
import type { Trx } from '../../db/core/database.ts'
import {
  bindIssuer,
  type CustomProviderRow,
  countCustomProviders,
  deleteCustomProvider,
  insertCustomProvider,
  lockCustomProvider,
  updateCustomProvider,
} from '../../db/custom-providers/providers.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { CustomProviderInput, DiscoveryDocument } from '../../schemas/custom-provider.ts'
import {
  customProviderConflict,
  customProviderNotFound,
  overCustomProviderQuota,
} from '../../schemas/errors.ts'
import { type NewProvider, readNewProvider, toProviderColumns, withScopes } from './columns.ts'
import { type DiscoverySource, fetchDiscovery } from './discovery.ts'
import { checkCustomProviderFields, checkUrls } from './rules.ts'

/** A validated request with the fetched documents: nothing is fetched inside a transaction. */
interface PreparedProvider extends NewProvider {
  discovery: DiscoveryDocument | undefined
}

/** Throws validation_failed. */
export async function prepareNew(
  deps: Deps<'httpClient'>,
  input: CustomProviderInput,
): Promise<PreparedProvider> {
  const provider = readNewProvider(input)
  checkCustomProviderFields(input)
  await checkUrls(deps, input)
  const { provider_type, issuer, discovery_url } = provider
  const source = { issuer: issuer ?? '', discovery_url: discovery_url ?? null }
  const discovery = provider_type === 'oidc' ? await fetchDiscovery(deps, source) : undefined
  return { ...provider, discovery }
}

/** Throws over_custom_provider_quota, and conflict for an identifier in use or with identities of another issuer. */
export async function createCustomProvider(
  { config, encryption }: Deps<'config' | 'encryption'>,
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
  return row
}

interface PreparedChange {
  input: CustomProviderInput
  source: DiscoverySource | undefined
  discovery: DiscoveryDocument | undefined
}

/** Prepares an update of the current provider. Throws validation_failed. */
export async function prepareChange(
  deps: Deps<'httpClient'>,
  provider: CustomProviderRow,
  input: CustomProviderInput,
): Promise<PreparedChange> {
  checkCustomProviderFields(input)
  await checkUrls(deps, input)
  const source = sourceAfter(provider, input)
  const isMoved = Boolean(input.issuer) || input.discovery_url !== undefined
  if (!source || !isMoved) return { input, source: undefined, discovery: undefined }
  return { input, source, discovery: await fetchDiscovery(deps, source) }
}

/**
 * Absent and empty fields are unchanged. Throws custom_provider_not_found, and conflict after a concurrent update or
 * for another issuer than that of the identities.
 */
export async function changeCustomProvider(
  { encryption }: Deps<'encryption'>,
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
  return { before, after }
}

/**
 * A user id of one issuer names another user at another issuer, who could then sign in to the wrong account. Throws
 * conflict while the provider has identities of another issuer, also those of a deleted provider with the same
 * identifier.
 */
async function requireSameIssuer(
  trx: Trx,
  { identifier, provider_type, issuer, userinfo_url }: CustomProviderRow,
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
