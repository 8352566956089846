/** The query of a list, in the address or in a body (RFC 7644 §3.4.3). */
import { scimRejected } from '../../schemas/errors.ts'
import type { ScimPageQuery } from './paging.ts'
import type { Selection } from './selection.ts'

export interface ListRequest extends Selection, ScimPageQuery {
  filter?: string | undefined
}

/** Reads the body of a search: numbers and lists instead of text. Throws invalidSyntax. */
export function readSearch(body: Record<string, unknown>): ListRequest {
  const read = (name: keyof ListRequest): string | undefined => {
    const value = body[name]
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string' || typeof value === 'number') return String(value)
    if (Array.isArray(value) && value.every((part) => typeof part === 'string')) {
      return value.join(',')
    }
    throw scimRejected(400, 'invalidSyntax', `${name} cannot be read`)
  }
  return {
    attributes: read('attributes'),
    excludedAttributes: read('excludedAttributes'),
    filter: read('filter'),
    startIndex: read('startIndex'),
    count: read('count'),
    cursor: read('cursor'),
  }
}
