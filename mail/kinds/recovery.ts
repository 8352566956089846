import { linkKind } from '../kind.ts'

export const recovery = linkKind({
  envSuffix: 'RECOVERY',
  subject: 'Reset your password',
  linkType: 'recovery',
  wording: {
    heading: 'Reset your password',
    paragraphs: [
      'We were asked to reset the password of {{ .Email }}. Go on here to choose a new one.',
    ],
    button: 'Reset password',
    code: 'Or type this code where you are asked for it:',
    caution:
      'You did not ask for this? Then ignore this mail. Your password stays as it is, and nobody can change it without this link or code, so share neither.',
  },
})
