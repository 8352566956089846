import { notificationKind } from './definition.ts'

export const mfaVerificationFailed = notificationKind({
  event: 'MFA_VERIFICATION_FAILED',
  details: {},
  sample: {},
})
