/** Organizations: members with roles and permissions. No other module writes their tables. */

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
export { checkCode, domainAddresses, sendDomainCode } from './domain-codes.ts'
export {
  addDomain,
  checkDns,
  markVerified,
  readDomain,
  removeDomain,
  toDnsRecord,
} from './domains.ts'
export {
  acceptOrganizationInvitation,
  declineInvitation,
  type InvitationClaim,
  permitAcceptance,
  revokeInvitation,
} from './invitations.ts'
export {
  checkNotShared,
  joinAutomatically,
  joinHookPayload,
  joinSuggested,
  listSuggestions,
  permitJoin,
  permitSuggestedJoin,
} from './join.ts'
export {
  activateOrganization,
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
export { type ChangedBy, changedBy, recordChange } from './record.ts'
export {
  changeGroupRole,
  changeRole,
  checkGrant,
  checkReach,
  createRole,
  findRolePermissions,
  removeRole,
  unlimited,
} from './roles.ts'
export { createInvitation } from './send-invitation.ts'
