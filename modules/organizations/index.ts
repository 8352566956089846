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
  type ConnectionUpdate,
  changeConnection,
  createConnection,
  removeConnection,
} from './connections.ts'
export { changeRole, createRole, type RoleKey, removeRole } from './custom-roles.ts'
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
export { requireRemainingOwner } from './last-owner.ts'
export {
  addMember,
  type MemberDeps,
  type MemberKey,
  removeMember,
  setMemberRole,
  setMemberStatus,
} from './members.ts'
export {
  changeOrganization,
  createOrganization,
  deleteOrganization,
  type OrganizationValues,
  purgeOrganization,
  restoreOrganization,
} from './organization.ts'
export { type ChangedBy, type OrganizationAction, recordChange } from './record.ts'
export { checkGrant, checkReach, findRolePermissions, unlimited } from './roles.ts'
export { createInvitation } from './send-invitation.ts'
export { readSlug } from './slug.ts'
