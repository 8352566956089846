import { notificationKind } from './definition.ts'

export const accountDeleted = notificationKind({
  event: 'ACCOUNT_DELETED',
  details: {},
  sample: {},
})
