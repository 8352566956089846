/** What the built-in mails say. Every sentence is a template; none may hold `<`, `>` or `&`, as HTML and text share them. */
import type { MailKind } from '../kinds.ts'
import { factorName, providerName } from './names.ts'

export interface Wording {
  heading: string
  paragraphs: string[]
  /** Only where there is a link: the words on its button. */
  button?: string
  /** What the code is for, where there is one. */
  code?: string
  /** What to do when the person did not ask for this. */
  caution: string
}

const notMine = 'If this was not you, reset your password now and sign out everywhere.'

export const wordings: Record<MailKind, Wording> = {
  confirmation: {
    heading: 'Confirm your email address',
    paragraphs: [
      'Welcome! One step is left: please confirm that {{ .Email }} is yours, and your account is ready.',
    ],
    button: 'Confirm email address',
    code: 'Or type this code where you signed up:',
    caution:
      'You did not sign up? Then just ignore this mail. Without your confirmation nobody can use this address.',
  },
  invite: {
    heading: 'You are invited',
    paragraphs: [
      'Somebody has invited {{ .Email }} to create an account at {{ .SiteURL }}. Accept to get started.',
    ],
    button: 'Accept the invitation',
    code: 'Or type this code where you are asked for it:',
    caution: 'You do not want to join? Then there is nothing to do, and you can delete this mail.',
  },
  recovery: {
    heading: 'Reset your password',
    paragraphs: [
      'We were asked to reset the password of {{ .Email }}. Go on here to choose a new one.',
    ],
    button: 'Reset password',
    code: 'Or type this code where you are asked for it:',
    caution:
      'You did not ask for this? Then ignore this mail. Your password stays as it is, and nobody can change it without this link or code, so share neither.',
  },
  magic_link: {
    heading: 'Your sign-in link',
    paragraphs: ['Here is the link that signs {{ .Email }} in. It works once.'],
    button: 'Sign in',
    code: 'Or type this code where you are asked for it:',
    caution:
      'You are not signing in just now? Then ignore this mail, and do not give the link or the code to anybody.',
  },
  email_change: {
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
  reauthentication: {
    heading: 'Your verification code',
    paragraphs: ['Please confirm that it is you.'],
    code: 'Type this code where you are asked for it:',
    caution:
      'You did not ask for a code? Then somebody may be using your account: change your password, and give this code to nobody.',
  },
  password_changed_notification: {
    heading: 'Your password was changed',
    paragraphs: ['The password of your account {{ .Email }} has just been changed.'],
    caution: `If you changed it, all is well. ${notMine}`,
  },
  email_changed_notification: {
    heading: 'Your email address was changed',
    paragraphs: [
      'The email address of your account has changed from {{ .OldEmail }} to {{ .Email }}. From now on, mails go to the new address.',
    ],
    caution:
      'If you changed it, all is well. If this was not you, contact the people who run {{ .SiteURL }} at once.',
  },
  phone_changed_notification: {
    heading: 'Your phone number was changed',
    paragraphs: [
      'The phone number of your account {{ .Email }} has changed{{ if .OldPhone }} from +{{ .OldPhone }}{{ end }} to +{{ .Phone }}.',
    ],
    caution: `If you changed it, all is well. ${notMine}`,
  },
  identity_linked_notification: {
    heading: 'A new sign-in method was linked',
    paragraphs: [
      `From now on, ${providerName} can be used to sign in to your account {{ .Email }}.`,
    ],
    caution: `If you linked it, all is well. ${notMine}`,
  },
  identity_unlinked_notification: {
    heading: 'A sign-in method was removed',
    paragraphs: [
      `From now on, ${providerName} can no longer be used to sign in to your account {{ .Email }}.`,
    ],
    caution: `If you removed it, all is well. ${notMine}`,
  },
  mfa_factor_enrolled_notification: {
    heading: 'A new verification method was added',
    paragraphs: [
      `Your account {{ .Email }} has a new way to verify that it is you: ${factorName}.`,
    ],
    caution: `If you added it, all is well. ${notMine}`,
  },
  mfa_factor_unenrolled_notification: {
    heading: 'A verification method was removed',
    paragraphs: [
      `One way to verify that it is you was removed from your account {{ .Email }}: ${factorName}.`,
    ],
    caution: `If you removed it, all is well. ${notMine}`,
  },
}
