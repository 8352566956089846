import { Type } from '@sinclair/typebox'

import { linkVariables, type MailKindFacts } from '../kind.ts'
import { linkSample, sampleNewEmail } from '../sample.ts'

export const emailChange = {
  envSuffix: 'EMAIL_CHANGE',
  subject: 'Confirm your new email address',
  link: true,
  messageType: 'email_change',
  /** Email is the current address; the link and the codes are those of SendingTo. */
  variables: Type.Object({ ...linkVariables, NewEmail: Type.String(), SendingTo: Type.String() }),
  wording: {
    heading: 'Confirm your new email address',
    paragraphs: [
      'Please confirm that the email address of your account is to change{{ if .Email }} from {{ .Email }}{{ end }} to {{ .NewEmail }}.' +
        '{{ if ne .NewEmail .SendingTo }} The new address gets a mail like this one too. The change is made when both have been confirmed.' +
        '{{ else if .Email }} Your old address may get a mail like this one too. The change is made when every mail has been confirmed.{{ end }}',
    ],
    button: 'Confirm the change',
    code: 'Or type this code where you are asked for it:',
    caution:
      'You did not ask for this? Then do not confirm it. If {{ .SendingTo }} is the address of your account, change your password as well.',
  },
  sample: (addresses) => ({
    ...linkSample(addresses, 'email_change'),
    NewEmail: sampleNewEmail,
    SendingTo: sampleNewEmail,
  }),
} as const satisfies MailKindFacts
