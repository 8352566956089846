/** Usernames: an optional identifier in addition to email and phone. */
export { assignUsername, changeUsername, nextUsernameChange, removeUsername } from './change.ts'
export { canonicalUsername, resolveUsername, resolveUsernameAddress } from './resolve.ts'
export {
  type ComputeSkeleton,
  getUsernameRules,
  isAvailable,
  loadSkeleton,
  readUsername,
} from './rules.ts'
export { assignReservedUsername, readSignUpUsername, reserveUsername } from './sign-up.ts'
