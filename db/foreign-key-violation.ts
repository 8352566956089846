/** True when a statement failed because a row that it refers to is gone (SQLSTATE 23503). */
export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503'
}
