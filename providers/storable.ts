/** Postgres stores no NUL and no half of a surrogate pair, and JSON no deeper than its stack. Providers may send either. */

const maxDepth = 32

/** The value without what cannot be stored; what lies deeper than 32 levels is left out. */
export function storable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storableText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === maxDepth) return undefined
  if (Array.isArray(value)) {
    return value.map((entry) => storable(entry, depth + 1)).filter((entry) => entry !== undefined)
  }
  return storableRecord({ ...value }, depth)
}

/** The same for what is surely an object. */
export function storableRecord(value: Record<string, unknown>, depth = 0): Record<string, unknown> {
  const entries = Object.entries(value).map(
    ([key, entry]) => [storableText(key), storable(entry, depth + 1)] as const,
  )
  return Object.fromEntries(entries.filter(([, entry]) => entry !== undefined))
}

/** For what means something else, or somebody else, once it is changed: ids, addresses, tokens. */
export function isStorable(text: string): boolean {
  return text === storableText(text)
}

function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}
