/** Reading replies whose shape is not guaranteed: a value of an unexpected type counts as absent. */

/** The value at a path of keys and indices, or undefined. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let current = value
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Object.hasOwn(current, key) ? Reflect.get(current, key) : undefined
  }
  return current
}

/** A string, or a number in decimal digits; '' otherwise. */
export function text(value: unknown): string {
  if (typeof value === 'string') return value
  // A number past 2^53 has lost digits: two people could get the same id.
  return Number.isSafeInteger(value) ? String(value) : ''
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** Booleans are sent as strings by some providers. */
export function truth(value: unknown): boolean {
  return value === true || value === 'true'
}

/** What a provider says of an address, where one counts as verified unless it says otherwise. */
export function unlessDenied(verified: unknown): boolean {
  return truth(verified ?? true)
}

export function without(claims: Record<string, unknown>, names: readonly string[]) {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)))
}
