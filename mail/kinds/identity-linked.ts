import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

export const identityLinked = notificationKind({
  event: 'IDENTITY_LINKED',
  details: { Provider: Type.String() },
  sample: { Provider: 'github' },
})
