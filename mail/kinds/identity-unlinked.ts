import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const identityUnlinked = notificationKind({
  event: 'IDENTITY_UNLINKED',
  details: { Provider: Type.String() },
  sample: { Provider: 'github' },
})
