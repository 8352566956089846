import { Type } from '@sinclair/typebox'

import { commonVariables, type MailKindFacts } from '../kind.ts'
import { commonSample, sampleCode } from '../sample.ts'

export const reauthentication = {
  envSuffix: 'REAUTHENTICATION',
  subject: '{{ .Token }} is your verification code',
  link: false,
  // Existing header rules of mail providers know this kind by its verb.
  messageType: 'reauthenticate',
  variables: Type.Object({ ...commonVariables, Token: Type.String() }),
  wording: {
    heading: 'Your verification code',
    paragraphs: ['Please confirm that it is you.'],
    code: 'Type this code where you are asked for it:',
    caution:
      'You did not ask for a code? Then somebody may be using your account: change your password, and give this code to nobody.',
  },
  sample: (addresses) => ({ ...commonSample(addresses), Token: sampleCode }),
} as const satisfies MailKindFacts
