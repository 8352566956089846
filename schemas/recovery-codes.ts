import { Type } from '@sinclair/typebox'

export const RemainingCodes = Type.Object(
  { remaining: Type.Integer({ description: 'Codes that were not used' }) },
  { title: 'RemainingRecoveryCodes' },
)

/** How many codes are made at a time. */
export const codesInSet = 10
