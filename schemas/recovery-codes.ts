import { Type } from '@sinclair/typebox'

export const RemainingCodes = Type.Object(
  { remaining: Type.Integer({ description: 'The number of unused codes' }) },
  { title: 'RemainingRecoveryCodes' },
)
