/** Removes a user from the organizations that an account joined before its address was verified. */
import type { Trx } from '../../../db/core/database.ts'
import { insertOrganizationAuditEntry } from '../../../db/organizations/audit.ts'
import { deleteInvitationsBy } from '../../../db/organizations/invitations.ts'
import { deleteObtainedMemberships } from '../../../db/organizations/members.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { memberTraits, recordAudit } from '../../audit/index.ts'

const action = 'organization_member_removed'

/**
 * Another user may have created them, and be in them with another account. Memberships by an admin, a connection or a
 * SCIM client stay. An organization without another owner has none until an admin of the server names one. Invitations
 * that the account sent are deleted.
 */
export async function leaveUnverifiedOrganizations(
  { audit }: Deps<'audit'>,
  trx: Trx,
  user: UserRecord,
  now: Date,
): Promise<void> {
  for (const member of await deleteObtainedMemberships(trx, user.id)) {
    const traits = memberTraits(member)
    await recordAudit(audit, trx, action, user, { ip: '', now, traits })
    const { organization_id, ...rest } = traits
    await insertOrganizationAuditEntry(trx, {
      ...{ organization_id, action, traits: rest, ip_address: '', created_at: now },
      ...{ actor_id: user.id, actor_name: user.email || user.phone || '' },
    })
  }
  await deleteInvitationsBy(trx, user.id)
}
