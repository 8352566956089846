/** Truncates log values, so that clients cannot make lines long. */

/** Maximum characters of a text that a client sent, or that may repeat client input. */
export const maxValueLength = 200
/** Maximum characters of any other text. */
const maxTextLength = 1000
const maxStackLength = 4000
const deepest = 4

export function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}

/** The fields of a line with every text truncated; errors are left to `serializeError`. */
export function shortenFields(fields: Record<string, unknown>): Record<string, unknown> {
  // The common case of a few short values: nothing is copied.
  if (Object.values(fields).every(isShort)) return fields
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cut(value, 1)]))
}

function isShort(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= maxTextLength : typeof value !== 'object'
}

export const shortenMessage = (message: unknown) => cut(message, 1)

function cut(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shorten(value, maxTextLength)
  if (typeof value !== 'object' || value === null || depth > deepest) return value
  if (Array.isArray(value)) return value.map((entry) => cut(entry, depth + 1))
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, cut(inner, depth + 1)])
  return Object.fromEntries(entries)
}

/** Database errors repeat statement values in `detail` and `where`, and many errors in their message. */
export function serializeError(error: unknown) {
  if (!(error instanceof Error)) return { message: shorten(String(error), maxValueLength) }
  const { name, cause } = error
  const code = 'code' in error ? error.code : undefined
  const message = shorten(error.message, maxValueLength)
  // Not `code`, which is redacted as a one-time code.
  return {
    type: name,
    errcode: code,
    message,
    stack: shortenStack(error, message),
    ...(cause instanceof Error && {
      cause: { name: cause.name, message: shorten(cause.message, maxValueLength) },
    }),
  }
}

/** The stack begins with the message. */
function shortenStack({ stack = '', message }: Error, shortened: string): string {
  return shorten(message === '' ? stack : stack.replace(message, () => shortened), maxStackLength)
}
