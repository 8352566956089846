/**
 * Users: creating, finding and changing accounts, and confirming identifiers. No other module inserts a user, confirms
 * an identifier or clears unverified credentials.
 */
export { readAdminChange } from './admin/change.ts'
export { readNewAdminUser } from './admin/input.ts'
export { applyAdminMetadata, inviteUser, prepareInvitation } from './admin/invite.ts'
export { listUserPage, listUsersAfter, readUserFilter, readUserSearch } from './admin/list.ts'
export { createUserAsAdmin, deleteUserAsAdmin, updateUserAsAdmin } from './admin/users.ts'
export {
  addEmailIdentity,
  emitEmailChanged,
  verifyEmail,
  verifyEmailOfNewUser,
} from './confirm-email.ts'
export { verifyPhone } from './confirm-phone.ts'
export {
  lockActiveUser,
  lockAndLoadUser,
  lockUserByEmail,
  lockUserById,
  lockUserByPhone,
  lockUserByUsername,
} from './lock.ts'
export { checkMetadataSize } from './metadata-size.ts'
export { type Changes, checkProfile, isCredentialChange, updateProfile } from './profile.ts'
export { findRepeatedSignUp, signUpAutoconfirmed } from './sign-up/autoconfirmed.ts'
export { signUpByEmail } from './sign-up/by-email.ts'
export { sendSignUpOtp, signUpByPhone } from './sign-up/by-phone.ts'
export { clearAutoconfirmed, clearUnverifiedCredentials } from './sign-up/clear-unverified.ts'
export { createUser, createUserWithSession } from './sign-up/create-user.ts'
export { dryRunPhoneOtp } from './sign-up/dry-run.ts'
export {
  callBeforeUserCreated,
  callBeforeUserCreatedForSignUp,
  callBeforeUserCreatedIfNew,
  callBeforeUserCreatedInConstantTime,
} from './sign-up/hooks.ts'
export { resolvePendingSignUp, storePendingSignUp } from './sign-up/pending.ts'
export { findOrCreateUnconfirmedUser, recordRejectedSignUp } from './sign-up/unconfirmed-user.ts'
