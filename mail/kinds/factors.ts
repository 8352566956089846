/** Second factors and passkeys. */
import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const mfaFactorEnrolled = notificationKind({
  event: 'MFA_FACTOR_ENROLLED',
  details: { FactorType: Type.String() },
  sample: { FactorType: 'totp' },
})

export const mfaFactorUnenrolled = notificationKind({
  event: 'MFA_FACTOR_UNENROLLED',
  details: { FactorType: Type.String() },
  sample: { FactorType: 'totp' },
})

export const mfaVerificationFailed = notificationKind({
  event: 'MFA_VERIFICATION_FAILED',
  details: {},
  sample: {},
})

export const securityKeyRefused = notificationKind({
  event: 'SECURITY_KEY_REFUSED',
  details: {},
  sample: {},
})

export const recoveryCodeUsed = notificationKind({
  event: 'RECOVERY_CODE_USED',
  details: { Remaining: Type.String() },
  sample: { Remaining: '9' },
})

export const passkeyAdded = notificationKind({
  event: 'PASSKEY_ADDED',
  details: { PasskeyName: Type.String() },
  sample: { PasskeyName: 'Google Password Manager' },
})
