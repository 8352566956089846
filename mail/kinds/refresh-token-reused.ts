import { notificationKind } from './definition.ts'

export const refreshTokenReused = notificationKind({
  event: 'REFRESH_TOKEN_REUSED',
  details: {},
  sample: {},
})
