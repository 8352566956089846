/**
 * Second factors: enrollment, verification, deletion, and recovery codes. No other module marks a factor as verified.
 */

export { callMfaVerificationHook, throttleFactorAttempt } from './attempts.ts'
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
export { enrollFactor, unenrollFactor } from './enroll.ts'
export { requireFactorEnrollEnabled } from './factor-types.ts'
export {
  generateRecoveryCodes,
  prepareRecoveryCodes,
  readRecoveryCode,
  regenerateRecoveryCodes,
} from './recovery-codes/generate.ts'
export {
  findCodesRemovedWith,
  removeRecoveryCodes,
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
