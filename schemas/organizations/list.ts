/** Lists of an organization: by cursor, newest first. */
import { Type } from '@sinclair/typebox'

import { readRowCursor, toRowCursor } from '../console/cursor.ts'
import { readLimit } from '../pagination.ts'
import { nullable } from '../values/choices.ts'

export const OrganizationListQuery = {
  limit: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
  cursor: Type.Optional(Type.String({ description: '`next` of the page before' })),
}

export const SearchQuery = {
  ...OrganizationListQuery,
  search: Type.Optional(Type.String({ description: 'Part of a name', maxLength: 255 })),
}

export const Next = nullable(
  Type.String({ description: 'The `cursor` of the next page; null on the last one' }),
)

/** Throws validation_failed. */
export function readList(query: { limit?: string; cursor?: string; search?: string }) {
  const { limit, cursor, search } = query
  return { size: readLimit(limit), after: readRowCursor(cursor), search: search || undefined }
}

/** The rows of a page, which were read with one more, and the cursor of the next one. */
export function toPage<Row extends { microseconds: number }>(
  rows: readonly Row[],
  size: number,
  getId: (row: Row) => string,
): { page: Row[]; next: string | null } {
  const page = rows.slice(0, size)
  const last = rows.length > size ? page.at(-1) : undefined
  const next = last ? toRowCursor({ microseconds: last.microseconds, id: getId(last) }) : null
  return { page, next }
}
