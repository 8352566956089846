interface UniqueViolation extends Error {
  /** The name of the index. */
  constraint?: string
}

/** True when a statement failed because another row holds the same unique value (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): error is UniqueViolation {
  return error instanceof Error && 'code' in error && error.code === '23505'
}
