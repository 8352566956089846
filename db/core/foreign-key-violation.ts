import { findFailedFunction } from './trigger-failure.ts'

interface ForeignKeyViolation extends Error {
  /** The name of the constraint. */
  constraint?: string
  /** The referencing table. */
  table?: string
  schema?: string
}

/**
 * True when a referenced row does not exist, or when other rows reference a deleted row (SQLSTATE 23503, and 23001 for
 * `on delete restrict`), but not of a statement of a trigger.
 */
export function isForeignKeyViolation(error: unknown): error is ForeignKeyViolation {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === '23503' || error.code === '23001') &&
    findFailedFunction(error) === undefined
  )
}
