/** Cursors of lists sorted by time. */
import { validationFailed } from '../errors.ts'
import { isUuid } from '../fields.ts'

interface RowCursor {
  microseconds: number
  id: string
}

export const toRowCursor = ({ microseconds, id }: RowCursor): string =>
  Buffer.from(`${microseconds} ${id}`).toString('base64url')

/** Throws validation_failed. */
export function readRowCursor(cursor: string | undefined): RowCursor | undefined {
  if (!cursor) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, microseconds = '', id = ''] = /^(\d{1,16}) (\S{36})$/.exec(text) ?? []
  if (microseconds && isUuid(id)) return { microseconds: Number(microseconds), id }
  throw validationFailed('Bad Pagination Parameters: cursor is not from this list')
}
