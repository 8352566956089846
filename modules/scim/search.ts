/** The query of a list, in the address or in a body (RFC 7644 §3.4.3). */
import type { PagePosition, PageRequest } from '../../db/scim/conditions.ts'
import { scimRejected } from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import { defaultPageSize, listResponseUrn, maxPageSize } from '../../schemas/scim/discovery.ts'
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

// Pages by startIndex and count (RFC 7644 §3.4.2.4), or by cursor (RFC 9865).

interface ScimPageQuery {
  startIndex?: string | undefined
  count?: string | undefined
  cursor?: string | undefined
}

interface RequestedPage extends PageRequest {
  startIndex: number
  byCursor: boolean
}

/** Throws invalidCursor, invalidCount and invalidValue. */
export function readScimPage({ startIndex, count, cursor }: ScimPageQuery): RequestedPage {
  const byCursor = cursor !== undefined
  const requested = readInteger('count', count, defaultPageSize)
  // A larger number is no error: fewer resources are returned.
  const limit = Math.min(Math.max(requested, 0), maxPageSize)
  if (byCursor) {
    if (requested < 1) throw scimRejected(400, 'invalidCount', 'count must be at least 1')
    return { limit, offset: 0, after: readCursor(cursor), startIndex: 1, byCursor }
  }
  const first = Math.max(1, readInteger('startIndex', startIndex, 1))
  return { limit, offset: first - 1, startIndex: first, byCursor }
}

function readInteger(name: string, text: string | undefined, preset: number): number {
  if (text === undefined || text === '') return preset
  if (/^-?\d{1,9}$/.test(text)) return Number(text)
  throw scimRejected(400, 'invalidValue', `${name} must be an integer`)
}

const timePattern = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d)?$/

/** Undefined for the first page. */
function readCursor(cursor: string): PagePosition | undefined {
  if (cursor === '') return undefined
  const [createdAt = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('|')
  if (isUuid(id) && timePattern.test(createdAt)) return { createdAt, id }
  throw scimRejected(400, 'invalidCursor', 'The cursor is not one of this server')
}

/** By cursor, one row more than the page is read, so that the last page is known to be the last. */
export const rowsToRead = ({ limit, byCursor }: RequestedPage): number => limit + (byCursor ? 1 : 0)

export function toList<Row extends { id: string; created_text: string }>(
  page: RequestedPage,
  rows: readonly Row[],
  totalResults: number,
  show: (row: Row) => object,
) {
  const shown = rows.slice(0, page.limit)
  const last = rows.length > page.limit ? shown.at(-1) : undefined
  const next = last && Buffer.from(`${last.created_text}|${last.id}`).toString('base64url')
  return {
    schemas: [listResponseUrn],
    totalResults,
    itemsPerPage: shown.length,
    ...(!page.byCursor && { startIndex: page.startIndex }),
    ...(next && { nextCursor: next }),
    Resources: shown.map(show),
  }
}
