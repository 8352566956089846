import { notificationKind } from '../kind.ts'

export const passwordChanged = notificationKind({
  event: 'PASSWORD_CHANGED',
  details: {},
  sample: {},
})
