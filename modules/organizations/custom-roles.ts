/** Custom roles, of an organization and of the server. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import {
  deleteRole,
  findRole,
  insertRole,
  isRoleUsed,
  type RoleRow,
  updateRole,
} from '../../db/organizations/roles.ts'
import {
  organizationRoleExists,
  organizationRoleInUse,
  organizationRoleNotFound,
  organizationRoleTooHigh,
  validationFailed,
} from '../../schemas/errors.ts'
import { includesAll, isSystemRole } from '../../schemas/organizations/permissions.ts'
import { type ChangedBy, recordChange } from './record.ts'

/** A role of an organization; null for a role of every organization, which only admins of the server change. */
interface RoleKey {
  organizationId: string | null
  name: string
}

interface CustomRoleInput {
  description?: string | undefined
  permissions?: readonly string[] | undefined
}

const namePattern = /^[a-z][a-z0-9_-]{0,62}$/
const permissionPattern = /^[a-z][a-z0-9_.-]{0,62}:[a-z][a-z0-9_.-]{0,62}$/
const maxPermissions = 200

/**
 * An organization has no role with the name of one of the server. `granted` is what the actor may grant. Throws
 * validation_failed, organization_role_exists and organization_role_too_high.
 */
export async function createRole(
  app: FastifyInstance,
  trx: Trx,
  { organizationId, name }: RoleKey,
  { description = '', permissions = [] }: CustomRoleInput,
  granted: readonly string[],
  by: ChangedBy,
  now: Date,
): Promise<RoleRow> {
  if (!namePattern.test(name)) {
    throw validationFailed(
      'name must have 1 to 63 lower-case letters, digits, _ and -, and begin with a letter',
      422,
    )
  }
  checkPermissions(permissions, granted)
  const isTaken =
    organizationId !== null && (isSystemRole(name) || (await findRole(trx, null, name)))
  if (isTaken) throw organizationRoleExists()
  const row = { id: crypto.randomUUID(), organization_id: organizationId, name, description }
  const created = await insertRole(trx, { ...row, permissions: [...permissions] }, now)
  if (!created) throw organizationRoleExists()
  await record(app, trx, 'organization_role_created', by, created, now)
  return created
}

/** Throws organization_role_not_found, validation_failed and organization_role_too_high. */
export async function changeRole(
  app: FastifyInstance,
  trx: Trx,
  key: RoleKey,
  { description, permissions }: CustomRoleInput,
  granted: readonly string[],
  by: ChangedBy,
  now: Date,
): Promise<RoleRow> {
  const before = await findOrThrow(trx, key)
  checkPermissions([...before.permissions, ...(permissions ?? [])], granted)
  const change = {
    ...(description !== undefined && { description }),
    ...(permissions && { permissions: [...permissions] }),
  }
  const changed = await updateRole(trx, before.id, change, now)
  await record(app, trx, 'organization_role_updated', by, changed, now)
  return changed
}

/** Throws organization_role_not_found, organization_role_too_high and organization_role_in_use. */
export async function removeRole(
  app: FastifyInstance,
  trx: Trx,
  key: RoleKey,
  granted: readonly string[],
  by: ChangedBy,
  now: Date,
): Promise<RoleRow> {
  const before = await findOrThrow(trx, key)
  checkPermissions(before.permissions, granted)
  const needsNone = !isSystemRole(key.name)
  if (needsNone && (await isRoleUsed(trx, key.organizationId, key.name))) {
    throw organizationRoleInUse()
  }
  await deleteRole(trx, before.id)
  await record(app, trx, 'organization_role_deleted', by, before, now)
  return before
}

function checkPermissions(permissions: readonly string[], granted: readonly string[]): void {
  const invalid = permissions.find((permission) => !permissionPattern.test(permission))
  if (invalid !== undefined) {
    throw validationFailed(
      `${JSON.stringify(invalid)} is no permission of the form resource:action`,
      422,
    )
  }
  if (new Set(permissions).size > maxPermissions) {
    throw validationFailed(`A role has at most ${maxPermissions} permissions`, 422)
  }
  if (!includesAll(granted, permissions)) throw organizationRoleTooHigh()
}

async function findOrThrow(trx: Trx, { organizationId, name }: RoleKey): Promise<RoleRow> {
  const found = await findRole(trx, organizationId, name)
  if (!found) throw organizationRoleNotFound(name)
  return found
}

/** A change of a server-wide role is in the audit log of admins only. */
async function record(
  app: FastifyInstance,
  trx: Trx,
  action: 'organization_role_created' | 'organization_role_updated' | 'organization_role_deleted',
  by: ChangedBy,
  { organization_id, name: role, permissions }: RoleRow,
  now: Date,
): Promise<void> {
  if (organization_id === null) return
  await recordChange(app, trx, action, by, { organization_id, role, permissions }, now)
}
