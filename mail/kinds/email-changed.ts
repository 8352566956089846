import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'
import { sampleEmail, sampleNewEmail } from './sample.ts'

export const emailChanged = notificationKind({
  event: 'EMAIL_CHANGED',
  details: { OldEmail: Type.String() },
  sample: { Email: sampleNewEmail, OldEmail: sampleEmail },
})
