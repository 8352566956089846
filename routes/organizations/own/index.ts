/** Routes of the current user, in any organization. */
import { acceptInvitations, declineInvitations, readInvitations } from './invitations.ts'
import ownOrganizations from './list.ts'
import { activate, join, leave } from './membership.ts'

export const ownRoutes = {
  ownOrganizations,
  readInvitations,
  acceptInvitations,
  declineInvitations,
  join,
  leave,
  activate,
}
