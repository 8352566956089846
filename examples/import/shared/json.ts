/** Undefined for invalid JSON. An integer that JavaScript would round is read as text: it may be an id. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text, keepDigits)
  } catch {
    return undefined
  }
}

/** `source` is the number as it was written. */
function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source ?? ''
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value)
  return isRounded && /^-?\d+$/.test(source) ? source : value
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
