import type { Static } from '@sinclair/typebox'

import type { EmailKind, emailKindDefinitions } from './kinds/index.ts'

/** The template variables of each type of email. */
export type MailVariables = {
  [K in EmailKind]: Static<(typeof emailKindDefinitions)[K]['variables']>
}
