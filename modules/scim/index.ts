/** SCIM 2.0 (RFC 7643, RFC 7644): users and groups that identity providers provision. */
export { permitAccount } from './accounts.ts'
export { toAccountClaims } from './claims.ts'
export {
  changeScimConnection,
  createScimConnection,
  removeScimConnection,
  requireScimConnection,
} from './connections.ts'
export { readFilter } from './filter.ts'
export {
  createScimGroup,
  patchScimGroup,
  removeScimGroup,
  replaceScimGroup,
  requireScimGroup,
} from './groups.ts'
export type { ProvisioningRequest } from './membership.ts'
export { applyOperations } from './patch/apply.ts'
export { readOperations } from './patch/operations.ts'
export { permitProvisionedJoin } from './permit-join.ts'
export { toGroupResource, toUserResource } from './response.ts'
export { type ListRequest, readScimPage, readSearch, rowsToRead, toList } from './search.ts'
export { createSelector, isSelected, type Selection, selectAttributes } from './selection.ts'
export {
  authenticateScimClient,
  endScimToken,
  issueScimToken,
  reauthenticateScimClient,
} from './tokens.ts'
export { changeScimUser, createScimUser, deleteScimUser, requireScimUser } from './users.ts'
export { readResource } from './values.ts'
export { matchesVersion, toEntityTag } from './version.ts'
