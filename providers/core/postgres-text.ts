/**
 * Postgres stores neither NUL nor a lone surrogate, and no JSON deeper than its stack; JSON has no numbers beyond a
 * double. Providers may send any of them.
 */

const maxDepth = 32

/** Returns the value without parts that cannot be stored, or are nested deeper than 32 levels. */
function toPostgresText(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return assertPostgresText(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined
  if (typeof value !== 'object' || value === null) return value
  if (depth === maxDepth) return undefined
  if (Array.isArray(value)) {
    return value
      .map((entry) => toPostgresText(entry, depth + 1))
      .filter((entry) => entry !== undefined)
  }
  return toPostgresJson({ ...value }, depth)
}

/** The same for an object. */
export function toPostgresJson(value: Record<string, unknown>, depth = 0): Record<string, unknown> {
  const entries = Object.entries(value).map(
    ([key, entry]) => [assertPostgresText(key), toPostgresText(entry, depth + 1)] as const,
  )
  return Object.fromEntries(entries.filter(([, entry]) => entry !== undefined))
}

/** For texts that must not be changed: ids, addresses, tokens. */
export function isPostgresText(text: string): boolean {
  return text === assertPostgresText(text)
}

function assertPostgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}
