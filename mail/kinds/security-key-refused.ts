import { notificationKind } from './definition.ts'

export const securityKeyRefused = notificationKind({
  event: 'SECURITY_KEY_REFUSED',
  details: {},
  sample: {},
})
