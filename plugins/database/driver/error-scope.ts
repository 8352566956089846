/** Whether an error of the database concerns one statement or all of them. */
import pg from 'pg'

/** SQLSTATE classes of a server that is unavailable, shutting down, full or replaced, and of an invalid statement. */
const errorsOfAll = /^(08|25|28|3D|42|53|57P)/

/**
 * Whether an error may be caused by one row or its values, so that the other statements of its batch should be retried:
 * invalid data, a damaged row, a lock held by another transaction, or a cancelled statement.
 */
export function isOfOneStatement(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !errorsOfAll.test(error.code ?? '')
}
