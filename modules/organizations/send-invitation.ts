/** Sending an invitation by email. */
import { createHash, randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { type InvitationRow, replaceInvitation } from '../../db/organizations/invitations.ts'
import { findMember } from '../../db/organizations/members.ts'
import type { OrganizationRow } from '../../db/organizations/organizations.ts'
import { nilUuid } from '../../db/tables/users.ts'
import { findUserByEmail, type UserRecord } from '../../db/users/users.ts'
import { memberExists, organizationJoinDisabled } from '../../schemas/errors.ts'
import { checkRecipient } from '../emails/index.ts'
import { withFragment } from '../flows/index.ts'
import { reserveEmail } from './limits.ts'
import { lockLiveOrganization } from './organization.ts'
import { type ChangedBy, recordChange } from './record.ts'

interface InvitationInput {
  organizationId: string
  /** Normalized. */
  email: string
  role: string
  /** A page of the application that accepts the invitation. */
  redirectTo: string
  aud: string
  /** The member who invites; null for an admin of the server. */
  invitedBy: UserRecord | null
}

/**
 * Replaces an earlier invitation of the address and queues the email. Throws organization_join_disabled, member_exists,
 * over_organization_invitation_limit, over_email_send_rate_limit and the errors of a recipient that gets no email.
 */
export async function createInvitation(
  app: FastifyInstance,
  trx: Trx,
  input: InvitationInput,
  by: ChangedBy,
  now: Date,
): Promise<InvitationRow> {
  const { organizationId, email, role, invitedBy } = input
  const organization = await lockLiveOrganization(trx, organizationId)
  if (!organization.invitation_join) throw organizationJoinDisabled('invitation')
  checkRecipient(app.emails.policy, email)
  await rejectMember(trx, input)
  const token = randomBytes(32).toString('base64url')
  const invitation = {
    id: crypto.randomUUID(),
    organization_id: organizationId,
    email,
    role,
    token_hash: hashInvitationToken(token),
    invited_by: invitedBy?.id ?? null,
    invited_by_admin: findAdminId(by),
    created_at: now,
    expires_at: new Date(now.getTime() + app.config.AUTH_ORGANIZATIONS_INVITATION_EXP * 1000),
  }
  await replaceInvitation(trx, invitation)
  await recordChange(
    app,
    trx,
    'organization_invitation_created',
    by,
    invitationTraits(invitation),
    now,
  )
  await queueEmail(app, trx, { input, organization, token, invitation }, now)
  await reserveEmail(app, trx, { organizationId, to: email, by }, now)
  return invitation
}

/** Null for a member, and for a token of a service, which has no user. */
const findAdminId = ({ member, actor }: ChangedBy): string | null =>
  member || actor.id === nilUuid ? null : actor.id

async function rejectMember(trx: Trx, { organizationId, email, aud }: InvitationInput) {
  const user = await findUserByEmail(trx, email, aud)
  if (user && (await findMember(trx, organizationId, user.id))) throw memberExists()
}

interface Sent {
  input: InvitationInput
  organization: OrganizationRow
  token: string
  invitation: InvitationRow
}

async function queueEmail(
  app: FastifyInstance,
  trx: Trx,
  { input: { redirectTo, invitedBy }, organization, token, invitation }: Sent,
  now: Date,
): Promise<void> {
  const variables = {
    SiteURL: app.config.AUTH_SITE_URL,
    Email: invitation.email,
    Data: { language: invitedBy?.raw_user_meta_data?.language },
    OrganizationName: organization.name,
    InvitedBy: invitedBy?.email ?? '',
    Role: invitation.role,
    InvitationURL: withFragment(redirectTo, { organization_invitation: token }),
    InvitationToken: token,
  }
  const { expires_at: expiresAt, email: to } = invitation
  const kind = 'organization_invitation' as const
  await app.mailer.queue(trx, { kind, to, variables, expiresAt }, now)
}

export const hashInvitationToken = (token: string): string =>
  createHash('sha256').update(token).digest('base64url')

export function invitationTraits({ id, organization_id, email, role }: InvitationRow) {
  return { organization_id, invitation_id: id, email, role }
}
