const maxDepth = 100

/**
 * False for what Postgres refuses as text or jsonb (NUL, half a surrogate pair) and for nesting that would exhaust the
 * stack of whoever walks it next.
 */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  if (depth === maxDepth) return false
  return Object.entries(value).every(
    ([key, field]) => isStorable(key) && isStorable(field, depth + 1),
  )
}
