import { notificationKind } from '../kind.ts'

export const accountDeleted = notificationKind({
  event: 'ACCOUNT_DELETED',
  details: {},
  sample: {},
})
