import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const phoneChanged = notificationKind({
  event: 'PHONE_CHANGED',
  details: { Phone: Type.String(), OldPhone: Type.String() },
  sample: { Phone: '15550102', OldPhone: '15550101' },
})
