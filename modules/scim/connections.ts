/** Admin operations on SCIM connections, and the tokens of their clients. */
import { createHash, randomBytes } from 'node:crypto'

import type { Db, Trx } from '../../db/core/database.ts'
import { findOrganization } from '../../db/organizations/organizations.ts'
import { findSsoProvider } from '../../db/saml/providers.ts'
import {
  deleteScimConnection,
  findAuthenticatedConnection,
  findScimConnection,
  insertBareProvider,
  insertScimConnection,
  insertScimToken,
  lockScimAccess,
  replaceRoleMapping,
  revokeScimToken,
  type ScimConnectionRow,
  updateScimConnection,
} from '../../db/scim/connections.ts'
import {
  organizationNotFound,
  scimConnectionExists,
  scimConnectionNotFound,
  scimRejected,
  scimTokenNotFound,
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

const tokenBytes = 32
/** Enough to recognize a token, and too little to guess it. */
const shownCharacters = 13

const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')

/** Returns the token, which is shown once. */
export async function issueScimToken(
  trx: Trx,
  connectionId: string,
  { name, expiresAt }: { name: string; expiresAt: Date | null },
  now: Date,
): Promise<{ id: string; token: string; prefix: string }> {
  const token = `scim_${randomBytes(tokenBytes).toString('base64url')}`
  const id = crypto.randomUUID()
  const prefix = token.slice(0, shownCharacters)
  const row = { id, sso_provider_id: connectionId, name, prefix, expires_at: expiresAt }
  await insertScimToken(trx, { ...row, token_hash: hashToken(token) }, now)
  return { id, token, prefix }
}

/** Throws scim_token_not_found. */
export async function endScimToken(
  trx: Trx,
  { connectionId, id }: { connectionId: string; id: string },
  now: Date,
): Promise<void> {
  const isFound = isUuid(connectionId) && isUuid(id)
  if (isFound) await lockScimAccess(trx, connectionId, 'exclusive')
  if (!isFound || !(await revokeScimToken(trx, { connectionId, id }, now))) {
    throw scimTokenNotFound()
  }
}

/**
 * The connection of the token in the Authorization header. One response for a missing, unknown, expired and revoked
 * token and for one of another connection: 401. A disabled connection, or one of a deleted organization: 403.
 */
export async function authenticateScimClient(
  db: Db,
  connectionId: string,
  authorization: string | undefined,
  now: Date,
): Promise<ScimConnectionRow> {
  const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  const tokenHash = token && hashToken(token)
  const found =
    tokenHash && isUuid(connectionId)
      ? await findAuthenticatedConnection(db, { connectionId, tokenHash }, now)
      : undefined
  if (!found) throw scimRejected(401, undefined, 'A valid token of this connection is required')
  if (!found.enabled || found.is_disabled) {
    throw scimRejected(403, undefined, 'This connection is disabled')
  }
  return found
}

/** First in a transaction: the access does not end before the transaction. Throws like `authenticateScimClient`. */
export async function reauthenticateScimClient(
  trx: Trx,
  connectionId: string,
  authorization: string | undefined,
  now: Date,
): Promise<ScimConnectionRow> {
  await lockScimAccess(trx, connectionId, 'shared')
  return authenticateScimClient(trx, connectionId, authorization, now)
}
