import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const recoveryCodeUsed = notificationKind({
  event: 'RECOVERY_CODE_USED',
  details: { Remaining: Type.String() },
  sample: { Remaining: '9' },
})
