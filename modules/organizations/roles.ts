/** Roles of members, and the rule that members grant no more than they have. */
import type { Db } from '../../db/core/database.ts'
import { findStoredPermissions } from '../../db/organizations/roles.ts'
import { organizationRoleNotFound, organizationRoleTooHigh } from '../../schemas/errors.ts'
import {
  effectivePermissions,
  everyPermission,
  includesAll,
  isSystemRole,
} from '../../schemas/organizations/permissions.ts'

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
