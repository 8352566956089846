/** One-time codes and links by email and SMS: creation, verification, send limits, and throttling. */

export {
  checkInterval,
  checkRepeatInterval,
  perClientInterval,
  releaseInterval,
  reserveInterval,
} from './limits/send-limits.ts'
export {
  checkSendQuota,
  releaseQuotaOnError,
  reserveOwnQuota,
  reserveSendQuota,
} from './limits/send-quotas.ts'
export {
  type Attempt,
  deviceHash,
  resetFailures,
  throttleAttempt,
  throttleSignIn,
  usernameAccount,
} from './limits/throttle.ts'
export { pauseBeforeRejection } from './limits/timing.ts'
export type { LinkContext } from './links.ts'
export { createEmailLink, createReauthenticationNonce, getLinkMethod, linkKinds } from './links.ts'
export {
  deliverSms,
  dryRunSms,
  type SmsChannel,
  sendSms,
  storeSms,
  withholdSms,
} from './sms-otp.ts'
export { consumeSmsOtp, smsSeconds, verifySmsOtp } from './sms-otp-check.ts'
export { isSmsQuotaExhausted, reserveSms, reserveSmsRepeat } from './sms-reservation.ts'
export { isPkce, isPkceLink } from './token-encoding.ts'
export { consumeEmailLink, consumeOtpCode, findEmailLink, newCode } from './tokens.ts'
