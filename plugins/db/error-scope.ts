/** Whose fault an error of the database is. */
import pg from 'pg'

/** SQLSTATE classes of a server that is gone, going, full or another one than it was, and of a statement as such. */
const ofAll = /^(08|25|28|3D|42|53|57P)/

/**
 * Whether an error may be the fault of one row or of its values, so that what was asked along with it is worth another try.
 * What remains is data that cannot be computed with, a damaged row, a lock that another transaction keeps, or a statement
 * stopped for taking long.
 */
export function isOfOneStatement(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !ofAll.test(error.code ?? '')
}
