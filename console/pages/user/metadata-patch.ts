/** Converts edited metadata to the API's merge patch: null deletes a key. */
type Json = Record<string, unknown>

interface Parsed {
  value?: Json
  error?: string
}

export function parseMetadata(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return { value }
    return { error: 'Metadata must be a JSON object: { … }' }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** The patch from `before` to `after`; undefined when they are equal. */
export function createPatch(before: Json, after: Json): Json | undefined {
  const patch: Json = {}
  for (const [key, value] of Object.entries(after)) {
    if (JSON.stringify(value) !== JSON.stringify(before[key])) patch[key] = value
  }
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null
  return Object.keys(patch).length > 0 ? patch : undefined
}

export const formatMetadata = (value: Json): string => JSON.stringify(value, null, 2)

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
