import { notificationKind } from './definition.ts'

export const passwordChanged = notificationKind({
  event: 'PASSWORD_CHANGED',
  details: {},
  sample: {},
})
