/** SCIM 2.0 (RFC 7643, RFC 7644): users and groups that identity providers provision. */
export { permitAccount } from './accounts.ts'
export { toAccountClaims } from './claims.ts'
export {
  authenticateScimClient,
  changeScimConnection,
  createScimConnection,
  endScimToken,
  issueScimToken,
  reauthenticateScimClient,
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
export { matchesVersion, toEntityTag, toGroupResource, toUserResource } from './response.ts'
export {
  createSelector,
  isSelected,
  type ListRequest,
  readScimPage,
  readSearch,
  rowsToRead,
  type Selection,
  selectAttributes,
  toList,
} from './search.ts'
export { changeScimUser, createScimUser, deleteScimUser, requireScimUser } from './users.ts'
export { readResource } from './values.ts'
