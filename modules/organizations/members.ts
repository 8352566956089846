/**
 * Changes of members; nothing else writes them. Locks are taken in one order: users, then the organization. What an
 * actor may grant is checked by the caller (`checkGrant`).
 */
import type { Trx } from '../../db/core/database.ts'
import {
  deleteMember,
  findMember,
  insertMember,
  type MemberRow,
  type NewMember,
  updateMember,
} from '../../db/organizations/members.ts'
import { lockOrganization } from '../../db/organizations/organizations.ts'
import { lockUser } from '../../db/users/update-user.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { memberNotFound } from '../../schemas/errors.ts'
import { changedFields, memberTraits } from '../audit/index.ts'
import { requireRemainingOwner } from './last-owner.ts'
import { checkMemberLimit, checkUserLimit } from './limits.ts'
import { type ChangedBy, recordChange } from './record.ts'

export type MemberDeps = Deps<'audit' | 'config'>

/** A member by organization and user. */
interface MemberKey {
  organizationId: string
  userId: string
}

/** Undefined for a user who is a member already. Throws organization_limit_reached. */
export async function addMember(
  deps: MemberDeps,
  trx: Trx,
  member: NewMember,
  by: ChangedBy,
  now: Date,
): Promise<MemberRow | undefined> {
  await lockUser(trx, member.user_id)
  if (await findMember(trx, member.organization_id, member.user_id)) return undefined
  await checkUserLimit(deps, trx, member.user_id)
  await checkMemberLimit(deps, trx, member.organization_id)
  const added = await insertMember(trx, member, now)
  if (added) {
    await recordChange(deps, trx, 'organization_member_added', by, memberTraits(added), now)
  }
  return added
}

/** Throws member_not_found and last_owner. */
export async function setMemberRole(
  deps: MemberDeps,
  trx: Trx,
  key: MemberKey,
  role: string,
  by: ChangedBy,
  now: Date,
): Promise<MemberRow> {
  return changeMember(deps, trx, key, { role }, by, now)
}

/** A suspended member has no rights and keeps the role. Throws member_not_found and last_owner. */
export async function setMemberStatus(
  deps: MemberDeps,
  trx: Trx,
  key: MemberKey,
  status: MemberRow['status'],
  by: ChangedBy,
  now: Date,
): Promise<MemberRow> {
  return changeMember(deps, trx, key, { status }, by, now)
}

async function changeMember(
  deps: MemberDeps,
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
  await recordChange(deps, trx, 'organization_member_updated', by, traits, now)
  return changed
}

/** The account is kept; sessions of the user lose the organization. Throws member_not_found and last_owner. */
export async function removeMember(
  deps: MemberDeps,
  trx: Trx,
  key: MemberKey,
  by: ChangedBy,
  now: Date,
): Promise<MemberRow> {
  const before = await lockOrThrow(trx, key)
  await requireRemainingOwner(trx, before)
  await deleteMember(trx, before)
  await recordChange(deps, trx, 'organization_member_removed', by, memberTraits(before), now)
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
