/** Admin operations on SCIM connections. */
import type { Db, Trx } from '../../db/core/database.ts'
import { findOrganization } from '../../db/organizations/organizations.ts'
import { findSsoProvider } from '../../db/saml/providers.ts'
import {
  deleteScimConnection,
  findScimConnection,
  insertBareProvider,
  insertScimConnection,
  lockScimAccess,
  replaceRoleMapping,
  type ScimConnectionRow,
  updateScimConnection,
} from '../../db/scim/connections.ts'
import {
  organizationNotFound,
  scimConnectionExists,
  scimConnectionNotFound,
  ssoProviderNotFound,
  validationFailed,
} from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import type { ScimConnectionInput } from '../../schemas/scim/connection.ts'
import { findRolePermissions } from '../organizations/index.ts'

/**
 * Creates a connection for an SSO provider, an organization, or both. Throws validation_failed, organization_not_found,
 * sso_provider_not_found, organization_role_not_found and scim_connection_exists.
 */
export async function createScimConnection(
  trx: Trx,
  input: ScimConnectionInput,
  now: Date,
): Promise<ScimConnectionRow> {
  const { name, default_role = 'member', enabled = true, role_mapping = [] } = input
  if (!name) throw validationFailed('name is required', 422)
  const organization_id = await readOrganization(trx, input)
  await checkRoles(trx, organization_id, { default_role, role_mapping })
  const id = await providerFor(trx, input, now)
  const row = { sso_provider_id: id, organization_id, name, default_role, enabled }
  if (!(await insertScimConnection(trx, row, now))) throw scimConnectionExists()
  await replaceRoleMapping(trx, id, readMapping(role_mapping))
  return requireScimConnection(trx, id)
}

/** Absent fields are unchanged. Throws scim_connection_not_found, organization_role_not_found and validation_failed. */
export async function changeScimConnection(
  trx: Trx,
  id: string,
  input: ScimConnectionInput,
  now: Date,
): Promise<{ before: ScimConnectionRow; after: ScimConnectionRow }> {
  const { name, default_role, enabled, role_mapping } = input
  await lockScimAccess(trx, id, 'exclusive')
  const before = await requireScimConnection(trx, id)
  await checkRoles(trx, before.organization_id, input)
  const change = {
    ...(name && { name }),
    ...(default_role && { default_role }),
    ...(enabled !== undefined && { enabled }),
  }
  await updateScimConnection(trx, id, change, now)
  if (role_mapping) await replaceRoleMapping(trx, id, readMapping(role_mapping))
  return { before, after: await requireScimConnection(trx, id) }
}

/** The accounts are kept. Throws scim_connection_not_found. */
export async function removeScimConnection(trx: Trx, id: string): Promise<ScimConnectionRow> {
  await lockScimAccess(trx, id, 'exclusive')
  const before = await requireScimConnection(trx, id)
  await deleteScimConnection(trx, before)
  return before
}

/** Throws scim_connection_not_found. */
export async function requireScimConnection(db: Db, id: string): Promise<ScimConnectionRow> {
  const found = isUuid(id) ? await findScimConnection(db, id) : undefined
  if (!found) throw scimConnectionNotFound()
  return found
}

async function readOrganization(
  trx: Trx,
  { organization_id: id, sso_provider_id }: ScimConnectionInput,
): Promise<string | null> {
  if (!id) {
    if (sso_provider_id) return null
    throw validationFailed('organization_id, sso_provider_id or both are required', 422)
  }
  const found = isUuid(id) ? await findOrganization(trx, id) : undefined
  if (!found || found.deleted_at) throw organizationNotFound()
  return found.id
}

/** The id of the connection. */
async function providerFor(
  trx: Trx,
  { sso_provider_id: id }: ScimConnectionInput,
  now: Date,
): Promise<string> {
  if (id) {
    const found = isUuid(id) ? await findSsoProvider(trx, id) : undefined
    if (!found) throw ssoProviderNotFound()
    return found.id
  }
  const made = crypto.randomUUID()
  await insertBareProvider(trx, made, now)
  return made
}

async function checkRoles(
  trx: Trx,
  organizationId: string | null,
  { default_role, role_mapping = [] }: ScimConnectionInput,
): Promise<void> {
  if (!organizationId) return
  const named = role_mapping.map(({ role }) => role)
  for (const role of new Set([...(default_role ? [default_role] : []), ...named])) {
    await findRolePermissions(trx, organizationId, role)
  }
}

/** Names of groups are compared without regard to case. Throws validation_failed. */
function readMapping(mapping: NonNullable<ScimConnectionInput['role_mapping']>) {
  const read = mapping.map(({ group, role }) => ({ group_name: group.toLowerCase(), role }))
  const names = read.map(({ group_name }) => group_name)
  if (new Set(names).size < names.length) {
    throw validationFailed('role_mapping names a group twice', 422)
  }
  return read
}
