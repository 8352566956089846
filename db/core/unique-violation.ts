interface UniqueViolation extends Error {
  /** The name of the index. */
  constraint?: string
}

/** True when another row has the same unique value (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): error is UniqueViolation {
  return error instanceof Error && 'code' in error && error.code === '23505'
}
