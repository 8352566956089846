/** Forms of the hosted pages. */
import type { Static } from '@sinclair/typebox'

import { firstValues, ManyQuery } from '../values/query.ts'

export const Form = ManyQuery

/** The fields of a form, the first value of each. */
export const readFormFields = (body: Static<typeof Form>): Record<string, string> =>
  firstValues(body)
