/** Lists of rows by their creation, newest first, that continue after a row. */
import { type SqlBool, sql } from 'kysely'

/** The row after which a list continues. */
export interface RowCursor {
  /** Since the epoch: more than a Date holds, as rows of one millisecond must not be lost. */
  microseconds: number
  id: string
}

export const epochMicroseconds = (column: string) =>
  sql<number>`(extract(epoch from ${sql.ref(column)}) * 1000000)::float8`

/** Whether a row follows the one of the cursor. */
export const isBeforeRow = ({ microseconds, id }: RowCursor, time = 'created_at', key = 'id') =>
  sql<SqlBool>`(${sql.ref(time)}, ${sql.ref(key)}) <
    ('epoch'::timestamptz + ${microseconds}::float8 * interval '1 microsecond', ${id}::uuid)`
