import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const mfaFactorEnrolled = notificationKind({
  event: 'MFA_FACTOR_ENROLLED',
  details: { FactorType: Type.String() },
  sample: { FactorType: 'totp' },
})
