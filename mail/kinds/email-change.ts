import { Type } from '@sinclair/typebox'

import { type EmailKindDefinition, linkVariables } from './definition.ts'
import { linkSample, sampleNewEmail } from './sample.ts'

export const emailChange = {
  envSuffix: 'EMAIL_CHANGE',
  link: true,
  button: 'ConfirmationURL',
  messageType: 'email_change',
  /** Email is the current address; link and code belong to SendingTo. */
  variables: Type.Object({ ...linkVariables, NewEmail: Type.String(), SendingTo: Type.String() }),
  sample: (addresses) => ({
    ...linkSample(addresses, 'email_change'),
    NewEmail: sampleNewEmail,
    SendingTo: sampleNewEmail,
  }),
} as const satisfies EmailKindDefinition
