import { Type } from '@sinclair/typebox'

import { linkVariables, type MailKindFacts } from '../kind.ts'
import { linkSample, sampleNewEmail } from '../sample.ts'

export const emailChange = {
  envSuffix: 'EMAIL_CHANGE',
  link: true,
  button: 'ConfirmationURL',
  messageType: 'email_change',
  /** Email is the current address; the link and the codes are those of SendingTo. */
  variables: Type.Object({ ...linkVariables, NewEmail: Type.String(), SendingTo: Type.String() }),
  sample: (addresses) => ({
    ...linkSample(addresses, 'email_change'),
    NewEmail: sampleNewEmail,
    SendingTo: sampleNewEmail,
  }),
} as const satisfies MailKindFacts
