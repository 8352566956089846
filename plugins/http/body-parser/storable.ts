const maxDepth = 100

/**
 * False for what Postgres rejects in text or jsonb (NUL, an unpaired surrogate), for a number beyond the range of a
 * double, which JSON writes as null, and for nesting deep enough to exhaust the stack of recursive code.
 */
export function isPostgresValue(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  if (depth === maxDepth) return false
  return Object.entries(value).every(
    ([key, field]) => isPostgresValue(key) && isPostgresValue(field, depth + 1),
  )
}
