import { notificationKind } from '../kind.ts'

export const refreshTokenReused = notificationKind({
  event: 'REFRESH_TOKEN_REUSED',
  details: {},
  sample: {},
})
