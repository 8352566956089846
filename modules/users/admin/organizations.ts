/** Removes a deleted user from organizations, with the invitations that they sent. */
import type { Trx } from '../../../db/core/database.ts'
import { deleteInvitationsBy } from '../../../db/organizations/invitations.ts'
import {
  deleteUserMemberships,
  listOwners,
  ownedOrganizations,
} from '../../../db/organizations/members.ts'
import { lockOrganization } from '../../../db/organizations/organizations.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { lastOrganizationOwner } from '../../../schemas/errors.ts'

/** The user must be locked. Organizations are locked in one order. Throws last_owner. */
export async function leaveOrganizations(
  { config }: Deps<'config'>,
  trx: Trx,
  userId: string,
): Promise<void> {
  if (!config.AUTH_ORGANIZATIONS_ENABLED) return
  for (const organizationId of await ownedOrganizations(trx, userId)) {
    await lockOrganization(trx, organizationId)
    const owners = await listOwners(trx, organizationId)
    if (owners.length === 1 && owners[0] === userId) throw lastOrganizationOwner()
  }
  await deleteUserMemberships(trx, userId)
  await deleteInvitationsBy(trx, userId)
}
