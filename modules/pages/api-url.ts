/** The URL of an internal API call: the only place where a page's input becomes part of a path. */
import { readUuid } from '../../schemas/fields.ts'

export interface ApiUrl {
  /** A literal path; `params` fills its `:name` segments. */
  url: `/${string}`
  /** Ids, mostly from form fields. */
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
}

/**
 * Throws validation_failed (404), as the API does, for an id that is not a UUID. Encoding is not enough: `..` has no
 * character to encode, and resolves to another path.
 */
export function buildApiUrl({ url, params = {}, query }: ApiUrl): string {
  const segments = url.split('/').map((segment) => {
    if (!segment.startsWith(':')) return segment
    const name = segment.slice(1)
    return readUuid(name, params[name] ?? '')
  })
  return [segments.join('/'), query && new URLSearchParams(query)].filter(Boolean).join('?')
}
