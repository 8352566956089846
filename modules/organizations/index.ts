/** Organizations: members with roles and permissions. No other module writes their tables. */
export { activateOrganization } from './active.ts'
export { changedBy } from './actor.ts'
export {
  type JoiningConnection,
  joinByConnection,
  permitConnectionJoin,
} from './connection-join.ts'
export {
  changeConnection,
  checkDomainRole,
  checkJoiningRoles,
  createConnection,
  removeConnection,
} from './connections.ts'
export { changeRole, createRole, removeRole } from './custom-roles.ts'
export { checkCode, domainAddresses, sendDomainCode } from './domain-codes.ts'
export {
  addDomain,
  checkDns,
  markVerified,
  readDomain,
  removeDomain,
  toDnsRecord,
} from './domains.ts'
export { changeGroupRole } from './group-roles.ts'
export {
  acceptOrganizationInvitation,
  declineInvitation,
  type InvitationClaim,
  permitAcceptance,
  revokeInvitation,
} from './invitations.ts'
export {
  joinAutomatically,
  joinHookPayload,
  joinSuggested,
  listSuggestions,
  permitJoin,
  permitSuggestedJoin,
} from './join.ts'
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
  readSlug,
  restoreOrganization,
} from './organization.ts'
export { type ChangedBy, recordChange } from './record.ts'
export { checkGrant, checkReach, findRolePermissions, unlimited } from './roles.ts'
export { createInvitation } from './send-invitation.ts'
export { checkNotShared } from './shared-domains.ts'
