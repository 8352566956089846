/** Values of the template language: truth, access, iteration and printing; and those that users choose. */

/**
 * Values that users choose. Expressions, loops and comparisons treat them like any other; where they are shown, they
 * cannot become a link: mail programs link every name of a domain, and an email of the operator would lead there.
 */
export class Untrusted {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

export function unwrap(value: unknown): unknown {
  return value instanceof Untrusted ? value.value : value
}

/** The value, marked like the one that it was taken from. */
export function markLike(from: unknown, value: unknown): unknown {
  return from instanceof Untrusted ? new Untrusted(value) : value
}

/** As in Go, empty values are false: false, 0, "", nil and empty collections. */
export function isTrue(marked: unknown): boolean {
  const value = unwrap(marked)
  if (Array.isArray(value)) return value.length > 0
  if (isRecord(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

/** Own properties only: `constructor` and other inherited ones are not template data. */
export function ownProperty(of: unknown, key: unknown): unknown {
  return markLike(of, findProperty(unwrap(of), unwrap(key)) ?? null)
}

function findProperty(of: unknown, key: unknown): unknown {
  if (Array.isArray(of) && typeof key === 'number') return of[key]
  if (isRecord(of) && typeof key === 'string' && Object.hasOwn(of, key)) return of[key]
  return undefined
}

/** The items of a `range`: lists in order, objects by sorted key. */
export function items(marked: unknown): [key: unknown, item: unknown][] {
  const value = unwrap(marked)
  if (Array.isArray(value)) return value.map((item, key) => [key, markLike(marked, item)])
  if (!isRecord(value)) return []
  return Object.keys(value)
    .sort()
    .map((key) => [markLike(marked, key), markLike(marked, value[key])])
}

/** In bytes for a text, as in Go; in entries for a list or an object. */
export function getLength(marked: unknown): number {
  const value = unwrap(marked)
  return typeof value === 'string' ? Buffer.byteLength(value) : items(value).length
}

export function print(marked: unknown): string {
  const value = unwrap(marked)
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const controls = /[^\P{Cc}\t\n]/gu
/** They reorder the text around the value. */
const bidiControls = /[\u202A-\u202E\u2066-\u2069]/g
/** Dots of IDNA, and one that looks like them. */
const dots = /(?<=[\p{L}\p{M}\p{N}\p{Cf}])[.\u2024\u3002\uFF0E\uFF61](?=[\p{L}\p{M}\p{N}\p{Cf}])/gu
const zeroWidthSpace = '\u200B'

/** The same text for a reader, in which no program finds a link. */
export function withoutLinks(text: string): string {
  return text
    .replace(controls, ' ')
    .replace(bidiControls, '')
    .replace(dots, `$&${zeroWidthSpace}`)
    .replace(/:(?=\/\/)/g, `:${zeroWidthSpace}`)
}
