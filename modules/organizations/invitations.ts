/** Invitations: accepted or declined once, by the user of their address, or revoked. */
import type { FastifyInstance } from 'fastify'

import { findAdminRole, hasAdminAmong } from '../../db/admins/admins.ts'
import type { Db, Trx } from '../../db/core/database.ts'
import {
  consumeInvitation,
  deleteInvitation,
  findInvitation,
  type InvitationKey,
  type InvitationRow,
} from '../../db/organizations/invitations.ts'
import { findMembership } from '../../db/organizations/members.ts'
import type { OrganizationRow } from '../../db/organizations/organizations.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { includesRole } from '../../schemas/console/admin-role.ts'
import {
  organizationInvitationForAnother,
  organizationInvitationNotFound,
  organizationJoinDisabled,
} from '../../schemas/errors.ts'
import { effectivePermissions, includesAll } from '../../schemas/organizations/permissions.ts'
import { findProvenAddress } from '../access/index.ts'
import type { AuditContext } from '../audit/index.ts'
import { findLiveOrganization, joinHookPayload, permitJoin } from './join.ts'
import { addMember } from './members.ts'
import { lockLiveOrganization } from './organization.ts'
import { type ChangedBy, recordChange } from './record.ts'
import { findRolePermissions } from './roles.ts'
import { hashInvitationToken, invitationTraits } from './send-invitation.ts'

/** Throws organization_invitation_not_found. */
export async function revokeInvitation(
  app: FastifyInstance,
  trx: Trx,
  organizationId: string,
  id: string,
  by: ChangedBy,
  now: Date,
): Promise<InvitationRow> {
  const revoked = await deleteInvitation(trx, organizationId, id)
  if (!revoked) throw organizationInvitationNotFound()
  await recordChange(
    app,
    trx,
    'organization_invitation_revoked',
    by,
    invitationTraits(revoked),
    now,
  )
  return revoked
}

/** What a user presents to accept: the token of the email, or the id of an invitation to their confirmed address. */
export type InvitationClaim = { token: string } | { id: string }

/** Throws organization_invitation_not_found and HookError. Not inside a transaction. */
export async function permitAcceptance(
  app: FastifyInstance,
  user: UserRecord,
  claim: InvitationClaim,
  { ip, now }: AuditContext,
): Promise<void> {
  const found = await findClaimed(app.db, user, claim, now)
  const organization = await findLiveOrganization(app.db, found.organization_id)
  await permitJoin(app, joinHookPayload(organization, user, found.role, 'invitation'), ip)
}

/**
 * The user, who is locked, becomes a member. Throws organization_invitation_not_found,
 * organization_invitation_for_another, organization_join_disabled and organization_limit_reached.
 */
export async function acceptOrganizationInvitation(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  claim: InvitationClaim,
  by: ChangedBy,
  now: Date,
): Promise<OrganizationRow> {
  const { organization, invitation } = await consumeClaimed(trx, user, claim, now)
  if (!organization.invitation_join) throw organizationJoinDisabled('invitation')
  if (!(await mayStillInvite(app, trx, invitation))) throw organizationInvitationNotFound()
  const { organization_id, role } = invitation
  const traits = { ...invitationTraits(invitation), user_id: user.id }
  await recordChange(app, trx, 'organization_invitation_accepted', by, traits, now)
  const member = { organization_id, user_id: user.id, role, connection_id: null }
  await addMember(app, trx, { ...member, joined_by: 'invitation' }, by, now)
  return organization
}

/** Whether the member, or the admin of the server, who invited may still send this invitation. */
async function mayStillInvite(
  app: FastifyInstance,
  trx: Trx,
  { organization_id: id, invited_by: inviter, invited_by_admin: admin, role }: InvitationRow,
): Promise<boolean> {
  if (admin !== null) return mayInviteAsAdmin(app, trx, admin)
  // A token of a service.
  if (inviter === null) return true
  const member = await findMembership(trx, id, inviter)
  if (member?.status !== 'active') return false
  const granted = effectivePermissions(member.role, member.role_permissions)
  const required = await findRolePermissions(trx, id, role)
  return includesAll(granted, ['invitations:write', ...required])
}

async function mayInviteAsAdmin(
  { config }: FastifyInstance,
  trx: Trx,
  userId: string,
): Promise<boolean> {
  const role = await findAdminRole(trx, userId)
  if (role) return includesRole(role, 'operator')
  return hasAdminAmong(trx, [userId], config.AUTH_JWT_ADMIN_ROLES)
}

/** Throws organization_invitation_not_found and organization_invitation_for_another. */
export async function declineInvitation(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  claim: InvitationClaim,
  by: ChangedBy,
  now: Date,
): Promise<void> {
  const { invitation } = await consumeClaimed(trx, user, claim, now)
  const traits = { ...invitationTraits(invitation), user_id: user.id }
  await recordChange(app, trx, 'organization_invitation_declined', by, traits, now)
}

/** The organization is locked before the invitation, as in a revocation. */
async function consumeClaimed(trx: Trx, user: UserRecord, claim: InvitationClaim, now: Date) {
  const { id, organization_id } = await findClaimed(trx, user, claim, now)
  const organization = await lockLiveOrganization(trx, organization_id)
  const invitation = await consumeInvitation(trx, id, now)
  if (!invitation) throw organizationInvitationNotFound()
  return { organization, invitation }
}

async function findClaimed(
  db: Db,
  user: UserRecord,
  claim: InvitationClaim,
  now: Date,
): Promise<InvitationRow> {
  const key = await findInvitationKey(db, user, claim)
  const found = key && (await findInvitation(db, key, now))
  if (!found) throw organizationInvitationNotFound()
  if (found.email !== user.email) throw organizationInvitationForAnother()
  return found
}

async function findInvitationKey(
  db: Db,
  user: UserRecord,
  claim: InvitationClaim,
): Promise<InvitationKey | undefined> {
  if ('token' in claim) return { tokenHash: hashInvitationToken(claim.token) }
  const email = await findProvenAddress(db, user)
  return email === undefined ? undefined : { id: claim.id, email }
}
