/** Routes of one organization, for its members and for admins of the server. */
import audit from './audit.ts'
import { changeConnections, readConnections } from './connections.ts'
import { addDomains, removeDomains, verifyDomains } from './domains.ts'
import groups from './groups.ts'
import { revokeInvitations, sendInvitations } from './invitations.ts'
import { changeMembers, readMembers } from './members.ts'
import { readOrganization, writeOrganization } from './organization.ts'
import { addRoles, changeRoles } from './roles.ts'

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
  audit,
}
