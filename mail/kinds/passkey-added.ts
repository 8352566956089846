import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const passkeyAdded = notificationKind({
  event: 'PASSKEY_ADDED',
  details: { PasskeyName: Type.String() },
  sample: { PasskeyName: 'Google Password Manager' },
})
