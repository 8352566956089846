import { Type } from '@sinclair/typebox'

import { providerName } from '../built-in/names.ts'
import { notMine } from '../built-in/phrases.ts'
import { notificationKind } from '../kind.ts'

export const identityUnlinked = notificationKind({
  event: 'IDENTITY_UNLINKED',
  subject: 'A sign-in method was removed from your account',
  details: { Provider: Type.String() },
  wording: {
    heading: 'A sign-in method was removed',
    paragraphs: [
      `From now on, ${providerName} can no longer be used to sign in to your account {{ .Email }}.`,
    ],
    caution: `If you removed it, all is well. ${notMine}`,
  },
  sample: { Provider: 'github' },
})
