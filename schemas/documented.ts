/**
 * Constraints for the API document only: the route itself rejects invalid requests, with its own error code. Spread
 * into the options of a schema.
 */
import type { TObject } from '@sinclair/typebox'

/** The field is required. */
export const needed = { 'x-required': true } as const

/** The field is one of these texts. */
export function choices(...texts: string[]) {
  return { 'x-enum': texts }
}

declare module 'fastify' {
  interface FastifySchema {
    /** For the API document, when the validator accepts any names in a query or form. */
    documented?: { querystring?: TObject; body?: TObject }
  }
}
