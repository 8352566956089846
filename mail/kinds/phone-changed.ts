import { Type } from '@sinclair/typebox'

import { notMine } from '../built-in/phrases.ts'
import { notificationKind } from '../kind.ts'

export const phoneChanged = notificationKind({
  event: 'PHONE_CHANGED',
  subject: 'Your phone number was changed',
  details: { Phone: Type.String(), OldPhone: Type.String() },
  wording: {
    heading: 'Your phone number was changed',
    paragraphs: [
      'The phone number of your account {{ .Email }} has changed{{ if .OldPhone }} from +{{ .OldPhone }}{{ end }} to +{{ .Phone }}.',
    ],
    caution: `If you changed it, all is well. ${notMine}`,
  },
  sample: { Phone: '15550102', OldPhone: '15550101' },
})
