/** Forms of the hosted pages. */
import type { Static } from '@sinclair/typebox'

import { firstValues, ManyQuery } from '../values/query.ts'

export const OauthForm = ManyQuery

/** The fields of a form, the first value of each. */
export const readFormFields = (body: Static<typeof OauthForm>): Record<string, string> =>
  firstValues(body)
