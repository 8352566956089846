/** Reads JSON of unknown shape: a value of an unexpected type counts as absent. */

/** The value at a path of keys and indices, or undefined. */
export function getPath(value: unknown, ...path: (string | number)[]): unknown {
  let current = value
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Object.hasOwn(current, key) ? Reflect.get(current, key) : undefined
  }
  return current
}

/** A string, or a number in decimal digits; '' otherwise. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value
  // A number above 2^53 has lost digits: two users could get the same id.
  return Number.isSafeInteger(value) ? String(value) : ''
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** Some providers send booleans as strings. */
export function asBoolean(value: unknown): boolean {
  return value === true || value === 'true'
}

export function withoutClaims(claims: Record<string, unknown>, names: readonly string[]) {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)))
}
