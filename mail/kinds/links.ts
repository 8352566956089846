/** Emails with a link, a code, or both. */
import { Type } from '@sinclair/typebox'

import {
  commonSample,
  commonVariables,
  type EmailKindDefinition,
  linkKind,
  linkSample,
  linkVariables,
  sampleCode,
  sampleNewEmail,
} from './definition.ts'

export const confirmation = linkKind({
  envSuffix: 'CONFIRMATION',
  linkType: 'signup',
})

export const invite = linkKind({
  envSuffix: 'INVITE',
  linkType: 'invite',
})

export const magicLink = linkKind({
  envSuffix: 'MAGIC_LINK',
  linkType: 'magiclink',
})

export const recovery = linkKind({
  envSuffix: 'RECOVERY',
  linkType: 'recovery',
})

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

export const reauthentication = {
  envSuffix: 'REAUTHENTICATION',
  link: false,
  // GoTrue's name, which existing header rules of mail providers use.
  messageType: 'reauthenticate',
  variables: Type.Object({ ...commonVariables, Token: Type.String() }),
  sample: (addresses) => ({ ...commonSample(addresses), Token: sampleCode }),
} as const satisfies EmailKindDefinition
