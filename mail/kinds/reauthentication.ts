import { Type } from '@sinclair/typebox'

import { commonVariables, type MailKindFacts } from '../kind.ts'
import { commonSample, sampleCode } from '../sample.ts'

export const reauthentication = {
  envSuffix: 'REAUTHENTICATION',
  link: false,
  // Existing header rules of mail providers know this kind by its verb.
  messageType: 'reauthenticate',
  variables: Type.Object({ ...commonVariables, Token: Type.String() }),
  sample: (addresses) => ({ ...commonSample(addresses), Token: sampleCode }),
} as const satisfies MailKindFacts
