import { linkKind } from '../kind.ts'

export const invite = linkKind({
  envSuffix: 'INVITE',
  subject: "You've been invited",
  linkType: 'invite',
  wording: {
    heading: 'You are invited',
    paragraphs: [
      'Somebody has invited {{ .Email }} to create an account at {{ .SiteURL }}. Accept to get started.',
    ],
    button: 'Accept the invitation',
    code: 'Or type this code where you are asked for it:',
    caution: 'You do not want to join? Then there is nothing to do, and you can delete this mail.',
  },
})
