import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const mfaFactorUnenrolled = notificationKind({
  event: 'MFA_FACTOR_UNENROLLED',
  details: { FactorType: Type.String() },
  sample: { FactorType: 'totp' },
})
