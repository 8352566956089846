/**
 * Credentials: passwords and identifiers, their changes, the codes and links sent to an identifier (also for an admin
 * to deliver), and their verification.
 */

export { checkDeletable, checkDeletion } from './delete-account.ts'
export { checkEmailChange, startEmailChange } from './email-change.ts'
export { throttleNewIdentifier } from './new-identifier.ts'
export { notifyOfFailure, signInWithPassword } from './password.ts'
export { checkPasswordChange, setPassword } from './password-change.ts'
export { acceptPhoneChange, sendPhoneChangeOtp, setPhone } from './phone-change.ts'
export { generateLink, type LinkRequest } from './requests/admin-links.ts'
export { readMagicLink, requestEmailOtp } from './requests/email-requests.ts'
export { resendSms } from './requests/resend-sms.ts'
export { acceptSignInCode, type SignInRequest, sendSignInCode } from './requests/sms-requests.ts'
export {
  consumeOtp,
  emailChangeHalfConfirmed,
  getPhoneTokenType,
  isOtpValid,
  requireLinkType,
  setFirstPassword,
  type TokenVerification,
} from './verification.ts'
export type { VerificationResult } from './verification-result.ts'
