import { Type } from '@sinclair/typebox'

import { notificationKind } from '../kind.ts'
import { sampleEmail, sampleNewEmail } from '../sample.ts'

export const emailChanged = notificationKind({
  event: 'EMAIL_CHANGED',
  subject: 'Your email address was changed',
  details: { OldEmail: Type.String() },
  wording: {
    heading: 'Your email address was changed',
    paragraphs: [
      'The email address of your account has changed from {{ .OldEmail }} to {{ .Email }}. From now on, mails go to the new address.',
    ],
    caution:
      'If you changed it, all is well. If this was not you, contact the people who run {{ .SiteURL }} at once.',
  },
  sample: { Email: sampleNewEmail, OldEmail: sampleEmail },
})
