import { findFailedFunction } from './trigger-failure.ts'

interface UniqueViolation extends Error {
  /** The name of the index. */
  constraint?: string
}

/** True when another row of our table has the same unique value (SQLSTATE 23505), not one that a trigger wrote to. */
export function isUniqueViolation(error: unknown): error is UniqueViolation {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === '23505' &&
    findFailedFunction(error) === undefined
  )
}
