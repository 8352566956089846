import { notMine } from '../built-in/phrases.ts'
import { notificationKind } from '../kind.ts'

export const passwordChanged = notificationKind({
  event: 'PASSWORD_CHANGED',
  subject: 'Your password was changed',
  details: {},
  wording: {
    heading: 'Your password was changed',
    paragraphs: ['The password of your account {{ .Email }} has just been changed.'],
    caution: `If you changed it, all is well. ${notMine}`,
  },
  sample: {},
})
