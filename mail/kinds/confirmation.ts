import { linkKind } from '../kind.ts'

export const confirmation = linkKind({
  envSuffix: 'CONFIRMATION',
  subject: 'Confirm your email address',
  linkType: 'signup',
  wording: {
    heading: 'Confirm your email address',
    paragraphs: [
      'Welcome! One step is left: please confirm that {{ .Email }} is yours, and your account is ready.',
    ],
    button: 'Confirm email address',
    code: 'Or type this code where you signed up:',
    caution:
      'You did not sign up? Then just ignore this mail. Without your confirmation nobody can use this address.',
  },
})
