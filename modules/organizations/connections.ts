/** Users who join get no role with more permissions than the member has who enables that way of joining. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/core/errors.ts'
import { findCustomProvider, insertTenantProvider } from '../../db/custom-providers/providers.ts'
import {
  type ConnectionRow,
  deleteConnection,
  findConnection,
  insertConnection,
  type ListedConnection,
  listConnections,
  updateConnection,
} from '../../db/organizations/connections.ts'
import type { OrganizationUpdate } from '../../db/organizations/organizations.ts'
import {
  customProviderNotFound,
  organizationConnectionExists,
  organizationConnectionNotFound,
  ssoProviderNotFound,
} from '../../schemas/errors.ts'
import { lockLiveOrganization } from './organization.ts'
import { type ChangedBy, recordChange } from './record.ts'
import { checkGrant } from './roles.ts'

/**
 * Before a change of how users join. Throws organization_not_found, organization_role_not_found and
 * organization_role_too_high.
 */
export async function checkJoiningRoles(
  trx: Trx,
  id: string,
  { default_role, domain_join: byDomain = 'off', sso_join: bySso = false }: OrganizationUpdate,
  granted: readonly string[],
): Promise<void> {
  const before = await lockLiveOrganization(trx, id)
  const opensDomain = byDomain !== 'off' && byDomain !== before.domain_join
  if (default_role !== undefined || opensDomain) {
    await checkGrant(trx, id, default_role ?? before.default_role, granted)
  }
  if (bySso && !before.sso_join) await checkConnectionRoles(trx, id, granted)
}

/**
 * Before a domain is verified, whose users may then join. Throws organization_not_found and organization_role_too_high.
 */
export async function checkDomainRole(
  trx: Trx,
  id: string,
  granted: readonly string[],
): Promise<void> {
  const { domain_join: byDomain, default_role } = await lockLiveOrganization(trx, id)
  if (byDomain !== 'off') await checkGrant(trx, id, default_role, granted)
}

// Connections: providers whose users belong to an organization.

interface ConnectionInput {
  name: string
  ssoProviderId?: string | undefined
  /** `custom:` and a name. */
  customProvider?: string | undefined
  change: ConnectionUpdate
}

type ConnectionUpdate = Partial<
  Pick<ConnectionRow, 'name' | 'enabled' | 'default_role' | 'role_mapping'>
>

/**
 * Throws organization_not_found, sso_provider_not_found, custom_provider_not_found, organization_role_not_found and
 * organization_connection_exists.
 */
export async function createConnection(
  app: FastifyInstance,
  trx: Trx,
  organizationId: string,
  { name, ssoProviderId, customProvider, change }: ConnectionInput,
  granted: readonly string[],
  by: ChangedBy,
  now: Date,
): Promise<ListedConnection> {
  await lockLiveOrganization(trx, organizationId)
  await checkRoles(trx, organizationId, change, granted)
  const custom = customProvider ? await findCustomProvider(trx, customProvider) : undefined
  if (customProvider && !custom) throw customProviderNotFound()
  const id = crypto.randomUUID()
  const row = {
    id,
    organization_id: organizationId,
    name,
    sso_provider_id: ssoProviderId ?? null,
    custom_provider_id: custom?.id ?? null,
    enabled: change.enabled ?? true,
    default_role: change.default_role ?? 'member',
    role_mapping: change.role_mapping ?? [],
  }
  try {
    await insertConnection(trx, row, now)
  } catch (error) {
    if (isForeignKeyViolation(error)) throw ssoProviderNotFound()
    throw isUniqueViolation(error) ? organizationConnectionExists() : error
  }
  if (custom) await insertTenantProvider(trx, custom.identifier, now)
  return recorded(app, trx, 'organization_connection_created', { organizationId, id }, by, now)
}

/**
 * Members with fewer permissions than the roles of a connection may only switch it off. Throws
 * organization_connection_not_found, organization_role_not_found and organization_role_too_high.
 */
export async function changeConnection(
  app: FastifyInstance,
  trx: Trx,
  key: ConnectionKey,
  change: ConnectionUpdate,
  granted: readonly string[],
  by: ChangedBy,
  now: Date,
): Promise<ListedConnection> {
  const before = await findOrThrow(trx, key)
  const { enabled, default_role, role_mapping } = change
  // A removed mapping takes its role from members at their next sign-in.
  const usesEarlierRoles = enabled !== false || default_role !== undefined || role_mapping
  if (usesEarlierRoles) await checkRoles(trx, key.organizationId, before, granted)
  await checkRoles(trx, key.organizationId, change, granted)
  await updateConnection(trx, key.id, change, now)
  return recorded(app, trx, 'organization_connection_updated', key, by, now)
}

/** Members and the provider are kept. Throws organization_connection_not_found. */
export async function removeConnection(
  app: FastifyInstance,
  trx: Trx,
  key: ConnectionKey,
  by: ChangedBy,
  now: Date,
): Promise<ListedConnection> {
  const removed = await recorded(app, trx, 'organization_connection_deleted', key, by, now)
  await deleteConnection(trx, key.id)
  return removed
}

interface ConnectionKey {
  organizationId: string
  id: string
}

/** Before joining by sign-in is switched on. Throws organization_role_too_high. */
async function checkConnectionRoles(
  trx: Trx,
  organizationId: string,
  granted: readonly string[],
): Promise<void> {
  for (const connection of await listConnections(trx, organizationId)) {
    if (connection.enabled) await checkRoles(trx, organizationId, connection, granted)
  }
}

/** Checks the roles that sign-ins would get: members grant no more than they have. */
async function checkRoles(
  trx: Trx,
  organizationId: string,
  { default_role, role_mapping = [] }: ConnectionUpdate,
  granted: readonly string[],
): Promise<void> {
  const roles = [...(default_role ? [default_role] : []), ...role_mapping.map(({ role }) => role)]
  for (const role of new Set(roles)) await checkGrant(trx, organizationId, role, granted)
}

async function recorded(
  app: FastifyInstance,
  trx: Trx,
  action: `organization_connection_${'created' | 'updated' | 'deleted'}`,
  key: ConnectionKey,
  by: ChangedBy,
  now: Date,
): Promise<ListedConnection> {
  const found = await findOrThrow(trx, key)
  const { name, enabled, default_role, role_mapping } = found
  const ids = { organization_id: key.organizationId, connection_id: key.id }
  const traits = { ...ids, name, enabled, default_role, role_mapping }
  await recordChange(app, trx, action, by, traits, now)
  return found
}

async function findOrThrow(trx: Trx, { organizationId, id }: ConnectionKey) {
  const found = await findConnection(trx, organizationId, id)
  if (!found) throw organizationConnectionNotFound()
  return found
}
