import { Type } from '@sinclair/typebox'

import { commonVariables, type EmailKindDefinition } from './definition.ts'
import { commonSample, sampleCode } from './sample.ts'

export const reauthentication = {
  envSuffix: 'REAUTHENTICATION',
  link: false,
  // GoTrue's name, which existing header rules of mail providers use.
  messageType: 'reauthenticate',
  variables: Type.Object({ ...commonVariables, Token: Type.String() }),
  sample: (addresses) => ({ ...commonSample(addresses), Token: sampleCode }),
} as const satisfies EmailKindDefinition
