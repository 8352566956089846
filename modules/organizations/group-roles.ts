/** Roles of the groups that a SCIM client provisions. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import {
  type GroupRow,
  listRolesFrom,
  lockGroup,
  setGroupRole,
} from '../../db/organizations/groups.ts'
import { organizationGroupNotFound, validationFailed } from '../../schemas/errors.ts'
import { type ChangedBy, recordChange } from './record.ts'
import { checkGrant, checkReach } from './roles.ts'

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
