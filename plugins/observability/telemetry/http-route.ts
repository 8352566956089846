const patterns = new Map<string, string>()

/** The matched route in the form of the OpenAPI document: `/admin/users/{user_id}`. */
export function routePattern(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  const known = patterns.get(url)
  if (known !== undefined) return known
  const pattern = url.replace(/:(\w+)(\([^)]*\))?/g, '{$1}')
  patterns.set(url, pattern)
  return pattern
}
