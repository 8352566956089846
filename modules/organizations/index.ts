/** Organizations: members with roles and permissions. No other module writes their tables. */
export { activateOrganization } from './active.ts'
export { changedBy } from './actor.ts'
export { findConfirmedAddress } from './confirmed-address.ts'
export {
  type JoiningConnection,
  joinByConnection,
  permitConnectionJoin,
} from './connection-join.ts'
export {
  changeConnection,
  createConnection,
  removeConnection,
} from './connections.ts'
export { changeRole, createRole, removeRole } from './custom-roles.ts'
export { toDnsRecord } from './dns.ts'
export { checkCode, domainAddresses, sendDomainCode } from './domain-codes.ts'
export { addDomain, checkDns, markVerified, readDomain, removeDomain } from './domains.ts'
export { changeGroupRole } from './group-roles.ts'
export {
  acceptOrganizationInvitation,
  declineInvitation,
  type InvitationClaim,
  permitAcceptance,
  revokeInvitation,
} from './invitations.ts'
export {
  findJoinable,
  joinAutomatically,
  joinByDomain,
  joinHookPayload,
  permitJoin,
  permitJoinByDomain,
} from './join.ts'
export { checkDomainRole, checkJoiningRoles } from './joining-roles.ts'
export {
  addMember,
  removeMember,
  setMemberRole,
  setMemberStatus,
} from './members.ts'
export {
  changeOrganization,
  createOrganization,
  deleteOrganization,
  purgeOrganization,
  restoreOrganization,
} from './organization.ts'
export { type ChangedBy, recordChange } from './record.ts'
export { checkGrant, checkReach, findRolePermissions, unlimited } from './roles.ts'
export { createInvitation } from './send-invitation.ts'
export { readSlug } from './slug.ts'
