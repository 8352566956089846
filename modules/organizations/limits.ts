/** Limits of organizations per user, of members and of emails per organization. 0 members mean no limit. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { countMembers, countUserOrganizations } from '../../db/organizations/members.ts'
import { lockOrganization } from '../../db/organizations/organizations.ts'
import { organizationInvitationLimit, organizationLimitReached } from '../../schemas/errors.ts'
import { reserveOwnQuota, reserveSendQuota } from '../otp/index.ts'
import type { ChangedBy } from './record.ts'

/** The user must be locked. Throws organization_limit_reached. */
export async function checkUserLimit(
  { config }: FastifyInstance,
  trx: Trx,
  userId: string,
): Promise<void> {
  const limit = config.AUTH_ORGANIZATIONS_MAX_PER_USER
  if (limit === 0 || (await countUserOrganizations(trx, userId)) < limit) return
  throw organizationLimitReached(`A user is a member of at most ${limit} organizations`)
}

/** Locks the organization, so that concurrent requests cannot exceed the limit. Throws organization_limit_reached. */
export async function checkMemberLimit(
  { config }: FastifyInstance,
  trx: Trx,
  organizationId: string,
): Promise<void> {
  const limit = config.AUTH_ORGANIZATIONS_MAX_MEMBERS
  if (limit === 0) return
  await lockOrganization(trx, organizationId)
  if ((await countMembers(trx, organizationId)) < limit) return
  throw organizationLimitReached(`An organization has at most ${limit} members`)
}

/** What an address gets a day from all organizations. */
const maxPerRecipient = { count: 10, seconds: 86_400 }

interface Sending {
  organizationId: string
  to: string
  by: ChangedBy
}

/**
 * Counts an email that a member sends to an address of their choice. Except for the limit of the organization, these
 * limits are not part of it: they stay when it is deleted. Call this late in the transaction, as the last row is shared
 * by all. Throws over_organization_invitation_limit and over_email_send_rate_limit.
 */
export async function reserveEmail(
  app: FastifyInstance,
  trx: Trx,
  { organizationId, to, by: { actor, member } }: Sending,
  now: Date,
): Promise<void> {
  const limit = app.config.AUTH_RATE_LIMIT_ORGANIZATION_INVITATIONS
  const reserve = async (kind: string, of: string, rate: typeof limit) => {
    const wait = await reserveOwnQuota(app, trx, { kind, of }, rate, now)
    if (wait > 0) throw organizationInvitationLimit(wait)
  }
  if (!member) return reserve('organization emails', organizationId, limit)
  await reserve('organization emails by', actor.id, limit)
  await reserve('organization emails to', to, maxPerRecipient)
  await reserve('organization emails', organizationId, limit)
  const message = { purpose: 'invitation', to, network: member.network } as const
  await reserveSendQuota(app, trx, 'email', message, now)
}
