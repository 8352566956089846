import { Type } from '@sinclair/typebox'

import { notMine } from '../built-in/phrases.ts'
import { notificationKind } from '../kind.ts'

export const recoveryCodeUsed = notificationKind({
  event: 'RECOVERY_CODE_USED',
  subject: 'A recovery code of your account was used',
  details: { Remaining: Type.String() },
  wording: {
    heading: 'A recovery code was used',
    paragraphs: [
      'A recovery code of your account {{ .Email }} was used in the place of your second factor. Codes left: {{ .Remaining }}.',
      'Each code works once. When few are left, make new ones.',
    ],
    caution: `If you used it, all is well. ${notMine}`,
  },
  sample: { Remaining: '9' },
})
