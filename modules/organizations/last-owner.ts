/** An organization always has an active owner. */
import type { Trx } from '../../db/core/database.ts'
import { listOwners } from '../../db/organizations/members.ts'
import type { OrganizationMembersTable } from '../../db/tables/organizations.ts'
import { lastOrganizationOwner } from '../../schemas/errors.ts'
import { ownerRole } from '../../schemas/organizations/permissions.ts'

type Member = Pick<OrganizationMembersTable, 'organization_id' | 'user_id' | 'role'> & {
  status: string
}

/** Before a member loses the role or leaves; the organization must be locked. Throws last_owner. */
export async function requireRemainingOwner(trx: Trx, member: Member): Promise<void> {
  if (member.role !== ownerRole || member.status !== 'active') return
  const owners = await listOwners(trx, member.organization_id)
  if (owners.length === 1 && owners[0] === member.user_id) throw lastOrganizationOwner()
}
