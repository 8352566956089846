import { Type } from '@sinclair/typebox'

import { factorName } from '../built-in/names.ts'
import { notMine } from '../built-in/phrases.ts'
import { notificationKind } from '../kind.ts'

export const mfaFactorEnrolled = notificationKind({
  event: 'MFA_FACTOR_ENROLLED',
  subject: 'A new verification method was added to your account',
  details: { FactorType: Type.String() },
  wording: {
    heading: 'A new verification method was added',
    paragraphs: [
      `Your account {{ .Email }} has a new way to verify that it is you: ${factorName}.`,
    ],
    caution: `If you added it, all is well. ${notMine}`,
  },
  sample: { FactorType: 'totp' },
})
