/**
 * Every write that gives access to an account, an organization or the server: who may give it, on which proof, and who
 * is told (docs/decisions/2026-11-29-new-access.md).
 */

export {
  findConfirmedAddress,
  findProvenAddress,
  hasConfirmedIdentifier,
  hasProvenHolder,
  hasServerRole,
  isAddressOfTenant,
  isClaimable,
  isProviderOfTenant,
  mayLinkAccount,
  mayOpenAccount,
  recordClaim,
  recordPreparation,
  recordPreparedImport,
  requireOwner,
  requireProvenHolder,
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
