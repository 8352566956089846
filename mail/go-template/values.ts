/** What values are to the template language: which count as true, what they hold, how they are printed. */

/** Go's idea of empty: false, 0, "", nil, and collections with nothing in them. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isRecord(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

/** Own properties alone: `constructor` and its like are data nobody gave us. */
export function get(of: unknown, key: unknown): unknown {
  if (Array.isArray(of) && typeof key === 'number') return of[key] ?? null
  if (isRecord(of) && typeof key === 'string' && Object.hasOwn(of, key)) return of[key] ?? null
  return null
}

/** What `range` walks over: lists in their order, objects in the order of their keys. */
export function items(value: unknown): [key: unknown, item: unknown][] {
  if (Array.isArray(value)) return value.map((item, key) => [key, item])
  if (!isRecord(value)) return []
  return Object.keys(value)
    .sort()
    .map((key) => [key, value[key]])
}

/** In bytes for a text, as Go counts; in entries for a list or an object. */
export function lengthOf(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : items(value).length
}

export function print(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
