import type { Static } from '@sinclair/typebox'

import type { MailKind, mailKinds } from './kinds.ts'

/** What each kind of mail tells its template. */
export type MailVariables = { [K in MailKind]: Static<(typeof mailKinds)[K]['variables']> }
