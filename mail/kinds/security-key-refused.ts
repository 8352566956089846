import { notMine } from '../built-in/phrases.ts'
import { notificationKind } from '../kind.ts'

export const securityKeyRefused = notificationKind({
  event: 'SECURITY_KEY_REFUSED',
  subject: 'A security key of your account was refused',
  details: {},
  wording: {
    heading: 'A security key was refused',
    paragraphs: [
      'A security key of your account {{ .Email }} was used, and counts fewer uses than it had before. That happens when a copy of it exists, so it was not accepted.',
      'Remove the key from your account, and add another one.',
    ],
    caution: notMine,
  },
  sample: {},
})
