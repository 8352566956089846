/** Limits of organizations per user, of members and of emails per organization. 0 members mean no limit. */
import type { Trx } from '../../db/core/database.ts'
import { countMembers, countUserOrganizations } from '../../db/organizations/members.ts'
import { lockOrganization } from '../../db/organizations/organizations.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { organizationInvitationLimit, organizationLimitReached } from '../../schemas/errors.ts'
import { reserveOwnQuota } from '../otp/index.ts'

/** The user must be locked. Throws organization_limit_reached. */
export async function checkUserLimit(
  { config }: Deps<'config'>,
  trx: Trx,
  userId: string,
): Promise<void> {
  const limit = config.AUTH_ORGANIZATIONS_MAX_PER_USER
  if (limit === 0 || (await countUserOrganizations(trx, userId)) < limit) return
  throw organizationLimitReached(`A user is a member of at most ${limit} organizations`)
}

/** Locks the organization, so that concurrent requests cannot exceed the limit. Throws organization_limit_reached. */
export async function checkMemberLimit(
  { config }: Deps<'config'>,
  trx: Trx,
  organizationId: string,
): Promise<void> {
  const limit = config.AUTH_ORGANIZATIONS_MAX_MEMBERS
  if (limit === 0) return
  await lockOrganization(trx, organizationId)
  if ((await countMembers(trx, organizationId)) < limit) return
  throw organizationLimitReached(`An organization has at most ${limit} members`)
}

/** Counts an email that a member has sent to an address of their choice. Throws over_organization_invitation_limit. */
export async function reserveEmail(
  { config }: Deps<'config'>,
  trx: Trx,
  organizationId: string,
  now: Date,
): Promise<void> {
  const limit = config.AUTH_RATE_LIMIT_ORGANIZATION_INVITATIONS
  const wait = await reserveOwnQuota(trx, `organization emails ${organizationId}`, limit, now)
  if (wait > 0) throw organizationInvitationLimit(wait)
}
