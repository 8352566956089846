/** Routes of organizations, by caller. Loaded while AUTH_ORGANIZATIONS_ENABLED is set. */
import { changeConnections, groups, newConnection, readConnections } from './connections.ts'
import { addDomains, removeDomains, verifyDomains } from './domains.ts'
import {
  acceptInvitations,
  declineInvitations,
  readInvitations,
  revokeInvitations,
  sendInvitations,
} from './invitations.ts'
import { changeMembers, newMember, readMembers } from './members.ts'
import {
  organizationAudit,
  organizationLifecycle,
  organizationList,
  readOrganization,
  writeOrganization,
} from './organizations.ts'
import { activate, join, leave, ownOrganizations } from './own.ts'
import { addRoles, addServerRoles, changeRoles, changeServerRoles } from './roles.ts'

/** Of the current user, in any organization. */
export const ownRoutes = {
  ownOrganizations,
  readInvitations,
  acceptInvitations,
  declineInvitations,
  join,
  leave,
  activate,
}

/** Of one organization, for its members and for admins of the server. */
export const scopedRoutes = {
  readOrganization,
  writeOrganization,
  readMembers,
  changeMembers,
  sendInvitations,
  revokeInvitations,
  addRoles,
  changeRoles,
  addDomains,
  verifyDomains,
  removeDomains,
  readConnections,
  changeConnections,
  groups,
  organizationAudit,
}

/** For admins of the server. */
export const adminRoutes = {
  organizationList,
  organizationLifecycle,
  addServerRoles,
  changeServerRoles,
}

/** For admins of the server, below the path of one organization. */
export const adminScopedRoutes = { newMember, newConnection }
