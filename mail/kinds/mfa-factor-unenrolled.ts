import { Type } from '@sinclair/typebox'

import { factorName } from '../built-in/names.ts'
import { notMine } from '../built-in/phrases.ts'
import { notificationKind } from '../kind.ts'

export const mfaFactorUnenrolled = notificationKind({
  event: 'MFA_FACTOR_UNENROLLED',
  subject: 'A verification method was removed from your account',
  details: { FactorType: Type.String() },
  wording: {
    heading: 'A verification method was removed',
    paragraphs: [
      `One way to verify that it is you was removed from your account {{ .Email }}: ${factorName}.`,
    ],
    caution: `If you removed it, all is well. ${notMine}`,
  },
  sample: { FactorType: 'totp' },
})
