import { Type } from '@sinclair/typebox'

export const RemainingCodes = Type.Object(
  { remaining: Type.Integer({ description: 'Codes that were not used' }) },
  { title: 'RemainingRecoveryCodes' },
)
