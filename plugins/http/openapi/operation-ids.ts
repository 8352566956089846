/** Operation ids for generated clients. */
import { isRecord } from '../../../schemas/values/record.ts'

/**
 * Sets each operation's id from its method and path, in place. Of two paths that differ only by a hyphen, the second is
 * an alias for clients that spell it that way.
 */
export function nameOperations(document: { paths?: object; webhooks?: object }): void {
  const taken = new Set<string>()
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!isRecord(operation)) continue
      const name = operationId(method, path)
      operation.operationId = taken.has(name) ? `${name}Alias` : name
      taken.add(name)
    }
  }
  for (const [event, { post }] of Object.entries(document.webhooks ?? {})) {
    post.operationId = toCamelCase(['on', event])
  }
}

/** `get /admin/users/{user_id}/sessions` is getAdminUserSessions. */
function operationId(method: string, path: string): string {
  const segments = path.split('/').filter(Boolean)
  const words = segments.flatMap((segment, index) => {
    if (segment.startsWith('{')) return []
    // Singular when an id follows.
    return segments[index + 1]?.startsWith('{')
      ? segment.replace(/ies$/, 'y').replace(/s$/, '')
      : segment
  })
  return toCamelCase([method, ...words])
}

function toCamelCase(words: readonly string[]): string {
  const parts = words.flatMap((word) => word.split(/[^A-Za-z0-9]+/)).filter(Boolean)
  const [first = '', ...rest] = parts
  return first + rest.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('')
}
