/** What the functions of the template language do, as LiquidJS filters. Values in, values out: nothing here reads code. */
import type { Context, FilterImplOptions } from 'liquidjs'

interface FilterThis {
  context: Context
}

/** Go's idea of empty: false, 0, "", nil, and collections with nothing in them. */
function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isRecord(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Own properties alone: `constructor` and its like are data nobody gave us. */
function get(of: unknown, key: unknown): unknown {
  if (Array.isArray(of) && typeof key === 'number') return of[key] ?? null
  if (isRecord(of) && typeof key === 'string' && Object.hasOwn(of, key)) return of[key] ?? null
  return null
}

function isEqual(a: unknown, ...others: unknown[]): boolean {
  return typeof a !== 'object' || a === null
    ? others.some((b) => (a ?? null) === (b ?? null))
    : false
}

function compare(test: (difference: number) => boolean) {
  return (a: unknown, b: unknown): boolean => {
    if (typeof a === 'number' && typeof b === 'number') return test(a - b)
    if (typeof a === 'string' && typeof b === 'string') return test(a === b ? 0 : a < b ? -1 : 1)
    return false
  }
}

function length(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (Array.isArray(value)) return value.length
  return isRecord(value) ? Object.keys(value).length : 0
}

/** What `range` walks over. */
function items(this: FilterThis, value: unknown): { key: unknown; value: unknown }[] {
  const list = Array.isArray(value)
    ? value.map((item, key) => ({ key, value: item }))
    : isRecord(value)
      ? Object.keys(value)
          .sort()
          .map((key) => ({ key, value: value[key] }))
      : []
  this.context.memoryLimit.use(list.length)
  return list
}

function print(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Everything that reaches the output passes here, so the memory limit is the limit of the output. */
function counted(context: Context, text: string): string {
  context.memoryLimit.use(text.length)
  return text
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;' }

/** Whatever could end an attribute without quotes becomes an entity. */
function unquoted(text: string): string {
  return text.replace(/[&<>"'`=\s]/g, (char) => escapes[char] ?? `&#${char.charCodeAt(0)};`)
}

// Schemes of apps are welcome in links; those that run or inline something are not.
function linkStart(text: string): string {
  // Browsers skip blanks and control characters when they read a scheme.
  const scheme = [...text].filter((char) => char > ' ').join('')
  return /^(?:javascript|vbscript|data|blob|file):/i.test(scheme) ? '#' : text
}

/** Together with a value before it this must not make a scheme. */
function linkRest(text: string): string {
  const path = text.search(/[/?#]/)
  const end = path === -1 ? text.length : path
  return text.slice(0, end).replaceAll(':', '%3A') + text.slice(end)
}

function asOutput(change: (text: string) => string) {
  return function (this: FilterThis, value: unknown): string {
    return counted(this.context, change(print(value)))
  }
}

export const filters: Record<string, FilterImplOptions> = {
  go_get: get,
  go_true: isTrue,
  go_items: items,
  go_eq: isEqual,
  go_ne: (a: unknown, b: unknown) => !isEqual(a, b),
  go_lt: compare((difference) => difference < 0),
  go_le: compare((difference) => difference <= 0),
  go_gt: compare((difference) => difference > 0),
  go_ge: compare((difference) => difference >= 0),
  go_and: (...values: unknown[]) => values.find((value) => !isTrue(value)) ?? values.at(-1),
  go_or: (...values: unknown[]) => values.find(isTrue) ?? values.at(-1),
  go_not: (value: unknown) => !isTrue(value),
  go_len: length,
  go_index: (of: unknown, ...keys: unknown[]) => keys.reduce(get, of),
  go_urlquery: (value: unknown) => encodeURIComponent(print(value).toWellFormed()),
  // Output is escaped anyway; a template that asks for it again must not get it twice.
  go_html: (value: unknown) => value,
  put: asOutput((text) => text),
  put_url: asOutput(linkStart),
  put_url_rest: asOutput(linkRest),
  put_query: asOutput((text) => encodeURIComponent(text.toWellFormed())),
  put_unquoted: asOutput((text) => unquoted(linkStart(text))),
}
