import { Type } from '@sinclair/typebox'

import { providerName } from '../built-in/names.ts'
import { notMine } from '../built-in/phrases.ts'
import { notificationKind } from '../kind.ts'

export const identityLinked = notificationKind({
  event: 'IDENTITY_LINKED',
  subject: 'A new sign-in method was linked to your account',
  details: { Provider: Type.String() },
  wording: {
    heading: 'A new sign-in method was linked',
    paragraphs: [
      `From now on, ${providerName} can be used to sign in to your account {{ .Email }}.`,
    ],
    caution: `If you linked it, all is well. ${notMine}`,
  },
  sample: { Provider: 'github' },
})
