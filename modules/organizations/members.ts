/**
 * Changes of members; nothing else writes them. Locks are taken in one order: users, then the organization. What an
 * actor may grant is checked by the caller (`checkGrant`).
 */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { clearActiveOrganization, setActiveOrganization } from '../../db/organizations/active.ts'
import {
  deleteMember,
  findMember,
  findMembership,
  insertMember,
  listOwners,
  type MemberRow,
  type NewMember,
  updateMember,
} from '../../db/organizations/members.ts'
import { findOrganization, lockOrganization } from '../../db/organizations/organizations.ts'
import type { SessionRecord } from '../../db/sessions/sessions.ts'
import type { OrganizationMembersTable } from '../../db/tables/organizations.ts'
import { lockUser } from '../../db/users/update-user.ts'
import {
  lastOrganizationOwner,
  memberNotFound,
  organizationNotFound,
} from '../../schemas/errors.ts'
import { ownerRole } from '../../schemas/organizations/permissions.ts'
import { recordOrganizationRole } from '../access/index.ts'
import { changedFields, memberTraits } from '../audit/index.ts'
import { checkMemberLimit, checkUserLimit } from './limits.ts'
import { type ChangedBy, recordChange } from './record.ts'

/** A member by organization and user. */
interface MemberKey {
  organizationId: string
  userId: string
}

/** Undefined for a user who is a member already. Throws organization_limit_reached. */
export async function addMember(
  app: FastifyInstance,
  trx: Trx,
  member: NewMember,
  by: ChangedBy,
  now: Date,
): Promise<MemberRow | undefined> {
  await lockUser(trx, member.user_id)
  if (await findMember(trx, member.organization_id, member.user_id)) return undefined
  await checkUserLimit(app, trx, member.user_id)
  await checkMemberLimit(app, trx, member.organization_id)
  const added = await insertMember(trx, member, now)
  if (added) {
    await recordChange(app, trx, 'organization_member_added', by, memberTraits(added), now)
    await recordRole(app, trx, added, by, now)
  }
  return added
}

/** Throws member_not_found and last_owner. */
export async function setMemberRole(
  app: FastifyInstance,
  trx: Trx,
  key: MemberKey,
  role: string,
  by: ChangedBy,
  now: Date,
): Promise<MemberRow> {
  return changeMember(app, trx, key, { role }, by, now)
}

/** A suspended member has no rights and keeps the role. Throws member_not_found and last_owner. */
export async function setMemberStatus(
  app: FastifyInstance,
  trx: Trx,
  key: MemberKey,
  status: MemberRow['status'],
  by: ChangedBy,
  now: Date,
): Promise<MemberRow> {
  return changeMember(app, trx, key, { status }, by, now)
}

async function changeMember(
  app: FastifyInstance,
  trx: Trx,
  key: MemberKey,
  change: { role: string } | { status: MemberRow['status'] },
  by: ChangedBy,
  now: Date,
): Promise<MemberRow> {
  const before = await lockOrThrow(trx, key)
  const after = { ...before, ...change }
  if (after.role === before.role && after.status === before.status) return before
  await requireRemainingOwner(trx, before)
  const changed = await updateMember(trx, before, change, now)
  const changes = changedFields(shown(before), shown(changed))
  const traits = { ...memberTraits(changed), ...changes }
  await recordChange(app, trx, 'organization_member_updated', by, traits, now)
  if ('role' in change) await recordRole(app, trx, changed, by, now)
  return changed
}

/** Tells the member, and for another owner all owners. */
async function recordRole(
  app: FastifyInstance,
  trx: Trx,
  { organization_id, user_id: userId, role }: MemberRow,
  { actor }: ChangedBy,
  now: Date,
): Promise<void> {
  const organization = await findOrganization(trx, organization_id)
  if (!organization) return
  const given = { organization, userId, role, actorId: actor.id }
  await recordOrganizationRole(app, trx, given, now)
}

/** The account is kept; sessions of the user lose the organization. Throws member_not_found and last_owner. */
export async function removeMember(
  app: FastifyInstance,
  trx: Trx,
  key: MemberKey,
  by: ChangedBy,
  now: Date,
): Promise<MemberRow> {
  const before = await lockOrThrow(trx, key)
  await requireRemainingOwner(trx, before)
  await deleteMember(trx, before)
  await recordChange(app, trx, 'organization_member_removed', by, memberTraits(before), now)
  return before
}

async function lockOrThrow(trx: Trx, { organizationId, userId }: MemberKey): Promise<MemberRow> {
  await lockUser(trx, userId)
  await lockOrganization(trx, organizationId)
  const member = await findMember(trx, organizationId, userId)
  if (!member) throw memberNotFound()
  return member
}

const shown = ({ role, status }: MemberRow) => ({ role, status })

// An organization always has an active owner.

type Member = Pick<OrganizationMembersTable, 'organization_id' | 'user_id' | 'role'> & {
  status: string
}

/** Before a member loses the role or leaves; the organization must be locked. Throws last_owner. */
async function requireRemainingOwner(trx: Trx, member: Member): Promise<void> {
  if (member.role !== ownerRole || member.status !== 'active') return
  const owners = await listOwners(trx, member.organization_id)
  if (owners.length === 1 && owners[0] === member.user_id) throw lastOrganizationOwner()
}

/**
 * Null for no organization. A concurrent removal of the member either sees the row, or makes this transaction fail by a
 * foreign key. Throws organization_not_found.
 */
export async function activateOrganization(
  app: FastifyInstance,
  trx: Trx,
  { session_id, id: user_id }: SessionRecord,
  organizationId: string | null,
  by: ChangedBy,
  now: Date,
): Promise<void> {
  if (organizationId === null) return clearActiveOrganization(trx, session_id)
  const member = await findMembership(trx, organizationId, user_id)
  if (member?.status !== 'active') throw organizationNotFound()
  const organization_id = organizationId
  await setActiveOrganization(trx, { session_id, organization_id, user_id })
  const traits = { organization_id, session_id, user_id }
  await recordChange(app, trx, 'organization_activated', by, traits, now)
}
