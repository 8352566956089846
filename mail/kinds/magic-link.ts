import { linkKind } from '../kind.ts'

export const magicLink = linkKind({
  envSuffix: 'MAGIC_LINK',
  subject: 'Your sign-in link',
  linkType: 'magiclink',
  wording: {
    heading: 'Your sign-in link',
    paragraphs: ['Here is the link that signs {{ .Email }} in. It works once.'],
    button: 'Sign in',
    code: 'Or type this code where you are asked for it:',
    caution:
      'You are not signing in just now? Then ignore this mail, and do not give the link or the code to anybody.',
  },
})
