/** The token of an invitation, stored as a hash, and the audit payload of an invitation. */
import { createHash } from 'node:crypto'

import type { InvitationRow } from '../../db/organizations/invitations.ts'

export const hashInvitationToken = (token: string): string =>
  createHash('sha256').update(token).digest('base64url')

export function invitationTraits({ id, organization_id, email, role }: InvitationRow) {
  return { organization_id, invitation_id: id, email, role }
}
