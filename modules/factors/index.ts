/**
 * Second factors: enrollment, verification, deletion, and recovery codes. No other module marks a factor as verified.
 */
export { challengeFactor } from './challenge.ts'
export {
  type ChallengeResponse,
  completeFactorVerification,
  type FactorChallenge,
  loadFactorChallenge,
  precomputeFactorClaims,
  rejectClonedAuthenticator,
  verifyChallengeResponse,
} from './complete.ts'
export { enrollFactor } from './enroll.ts'
export { requireFactorEnrollEnabled } from './factor-types.ts'
export { readRecoveryCode } from './recovery-codes/codes.ts'
export {
  generateRecoveryCodes,
  prepareRecoveryCodes,
  regenerateRecoveryCodes,
} from './recovery-codes/generate.ts'
export { removeRecoveryCodes } from './recovery-codes/remove.ts'
export {
  findCodesRemovedWith,
  requireRecoveryEnroll,
  requireRecoveryVerify,
} from './recovery-codes/rules.ts'
export {
  attemptRecovery,
  completeRecovery,
  precomputeRecoveryClaims,
  type RecoveryAttempt,
  releaseRecovery,
} from './recovery-codes/verify.ts'
export { throttleFactorAttempt } from './throttle.ts'
export { unenrollFactor } from './unenroll.ts'
export { callMfaVerificationHook } from './verification-hook.ts'
