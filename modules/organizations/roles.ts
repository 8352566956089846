/**
 * Roles of members, custom ones and those of provisioned groups, and the rule that members grant no more than they
 * have.
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import {
  type GroupRow,
  listRolesFrom,
  lockGroup,
  setGroupRole,
} from '../../db/organizations/groups.ts'
import {
  deleteRole,
  findRole,
  findStoredPermissions,
  insertRole,
  isRoleUsed,
  type RoleRow,
  updateRole,
} from '../../db/organizations/roles.ts'
import {
  organizationGroupNotFound,
  organizationRoleExists,
  organizationRoleInUse,
  organizationRoleNotFound,
  organizationRoleTooHigh,
  validationFailed,
} from '../../schemas/errors.ts'
import {
  effectivePermissions,
  everyPermission,
  includesAll,
  isSystemRole,
} from '../../schemas/organizations/permissions.ts'
import { type ChangedBy, recordChange } from './record.ts'

/** What an admin of the server and a provisioning client may grant. */
export const unlimited: readonly string[] = [everyPermission]

/** The permissions of a role in an organization. Throws organization_role_not_found. */
export async function findRolePermissions(
  db: Db,
  organizationId: string,
  role: string,
): Promise<string[]> {
  const { isStored, permissions } = await findStoredPermissions(db, organizationId, role)
  if (!isStored && !isSystemRole(role)) throw organizationRoleNotFound(role)
  return effectivePermissions(role, permissions)
}

/** Called before a change of members who have this role now. Throws organization_role_too_high. */
export async function checkReach(
  db: Db,
  organizationId: string,
  role: string,
  granted: readonly string[],
): Promise<void> {
  const { permissions } = await findStoredPermissions(db, organizationId, role)
  const isCovered = includesAll(granted, effectivePermissions(role, permissions))
  if (!isCovered) throw organizationRoleTooHigh()
}

/** Throws organization_role_not_found, and organization_role_too_high when the role has more than `granted`. */
export async function checkGrant(
  db: Db,
  organizationId: string,
  role: string,
  granted: readonly string[],
): Promise<void> {
  const required = await findRolePermissions(db, organizationId, role)
  if (!includesAll(granted, required)) throw organizationRoleTooHigh()
}

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

interface LockedOrganization {
  trx: Trx
  /** Of the organization, which is locked. */
  id: string
  /** What the actor may grant. */
  permissions: readonly string[]
  by: ChangedBy
}

/**
 * An empty role removes the mapping. Members get the role at the next change of their groups. Throws
 * organization_group_not_found, organization_role_not_found, organization_role_too_high, and validation_failed for a
 * priority without a role.
 */
export async function changeGroupRole(
  app: FastifyInstance,
  actor: LockedOrganization,
  groupId: string,
  { role: given, priority }: { role?: string; priority?: number },
  now: Date,
): Promise<GroupRow> {
  const { trx, id, permissions, by } = actor
  const group = await lockGroup(trx, id, groupId)
  if (!group) throw organizationGroupNotFound()
  const role = given === undefined ? group.role : given || null
  if (role === null && priority !== undefined) throw validationFailed('A priority needs a role')
  if (group.role) await checkReach(trx, id, group.role, permissions)
  if (given) await checkGrant(trx, id, given, permissions)
  await checkOvertaken(actor, group, { role, priority })
  const changed = { ...group, role, priority: await setGroupRole(trx, group, { role, priority }) }
  const traits = { group_id: groupId, name: group.name, role, priority: changed.priority }
  await recordChange(
    app,
    trx,
    'organization_group_updated',
    by,
    { organization_id: id, ...traits },
    now,
  )
  return changed
}

/**
 * A member of several groups gets another role when a mapping is added, removed or moved before or behind that of
 * another group, or instead of the default role.
 */
async function checkOvertaken(
  { trx, id, permissions }: LockedOrganization,
  group: GroupRow,
  { role, priority = group.priority }: { role: string | null; priority: number | null | undefined },
): Promise<void> {
  const after = role === null ? null : priority
  const isAdded = group.role === null && role !== null
  if (after === group.priority && !isAdded) return
  const places = [group.priority, after].filter((place) => place !== null)
  const first = places.length > 0 ? Math.min(...places) : null
  for (const overtaken of await listRolesFrom(trx, group, first)) {
    await checkReach(trx, id, overtaken, permissions)
  }
}
