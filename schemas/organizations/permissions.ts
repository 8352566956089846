/** Permissions of members (`resource:action`), and the roles that every organization has. */

const systemPermissions = [
  'organization:read',
  'organization:write',
  'organization:delete',
  'members:read',
  'members:write',
  'invitations:read',
  'invitations:write',
  'roles:read',
  'roles:write',
  'domains:read',
  'domains:write',
  'connections:read',
  'connections:write',
  'groups:read',
  'groups:write',
  'scim:read',
  'scim:write',
  'audit:read',
] as const

export type SystemPermission = (typeof systemPermissions)[number]

/** Those by which a member changes an organization, its members, or how users join. */
export const administrativePermissions: readonly string[] = systemPermissions.filter(
  (permission) => !permission.endsWith(':read'),
)

/** The permissions of an owner: all, those of the application included. */
export const everyPermission = '*'

export const ownerRole = 'owner'

/** The permissions of the system roles, lowest role last. */
const systemRoles: Readonly<Record<string, readonly string[]>> = {
  [ownerRole]: [everyPermission],
  admin: systemPermissions.filter((permission) => permission !== 'organization:delete'),
  member: ['organization:read', 'members:read'],
}

export const systemRoleNames = Object.keys(systemRoles)

export const isSystemRole = (name: string): boolean => Object.hasOwn(systemRoles, name)

/** The permissions of a role: those of the system role of this name, and the stored ones. */
export function effectivePermissions(role: string, stored: readonly string[] | null): string[] {
  const system = Object.hasOwn(systemRoles, role) ? (systemRoles[role] ?? []) : []
  if (system.includes(everyPermission)) return [everyPermission]
  return [...new Set([...system, ...(stored ?? [])])]
}

export function hasPermission(permissions: readonly string[], permission: string): boolean {
  return permissions.includes(everyPermission) || permissions.includes(permission)
}

/** True when every one of `required` is among `permissions`: members grant no more than they have. */
export function includesAll(permissions: readonly string[], required: readonly string[]): boolean {
  return required.every((permission) => hasPermission(permissions, permission))
}
