/**
 * Every write that gives access to an account, an organization or the server: who may give it, on which proof, and who
 * is told (docs/decisions/2026-11-29-new-access.md).
 */

export {
  hasServerRole,
  isAddressOfTenant,
  isProviderOfTenant,
  mayLinkAccount,
  mayOpenAccount,
  requireOwner,
} from './authority.ts'
export {
  authorizeAccess,
  createPasswordAttempt,
  hasAccessProof,
  isCurrentPassword,
  isFresh,
  type MethodChange,
  reauthenticate,
  requireAccessProof,
  requireFreshProof,
  requireVerifiedFactor,
} from './authorize.ts'
export {
  findConfirmedAddress,
  findProvenAddress,
  hasConfirmedIdentifier,
  hasProvenHolder,
  requireProvenHolder,
} from './confirmed-address.ts'
export {
  isClaimable,
  recordClaim,
  recordPreparation,
  recordPreparedImport,
} from './prepared-accounts.ts'
export {
  acceptSentReauthentication,
  findNonceRecipient,
  sendReauthentication,
  verifyReauthenticationNonce,
} from './reauthentication.ts'
export { identityTraits, recordAccess } from './record.ts'
export {
  recordOauthClient,
  recordOrganizationRole,
  recordScimToken,
  recordServerChange,
  recordServerRole,
  recordSettings,
} from './server-changes.ts'
export {
  type EstablishedProof,
  establishedProofs,
  findVerifiedMethods,
  hasRecentProof,
  loadProof,
  recordReauthentication,
} from './session-proofs.ts'
