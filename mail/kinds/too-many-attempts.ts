import { notificationKind } from './definition.ts'

export const tooManyAttemptsEmail = notificationKind({
  event: 'TOO_MANY_ATTEMPTS',
  details: {},
  sample: {},
})
