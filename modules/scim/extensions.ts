/** Extensions that clients use without a schema in the table (RFC 7643 §3.3). They are stored as they are sent. */
import { isRecord } from '../../schemas/values/record.ts'

/** Names of attributes have no colon, and those of schemas do. */
export const isSchemaName = (name: string): boolean => name.includes(':')

/** The extensions that the resource has. */
export function listExtensions(resource: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(resource).filter((name) => isSchemaName(name) && isRecord(resource[name]))
}

const attributePath = /^[A-Za-z$][\w$-]*(?:\[|\.[A-Za-z$]|$)/
const partPath = /^[A-Za-z$][\w$-]*(?:\[|\.[A-Za-z$])/
const typePath = /:(?:User|Group)$/i

/**
 * The extension in a path that no resource and no request declares. The name after the last colon is an attribute of
 * it, unless the value is an object and the name before is not that of a resource type, with which extensions end.
 */
export function findUndeclaredExtension(path: string, value: unknown): string {
  const [name = ''] = path.split('[', 1)
  const colon = name.lastIndexOf(':')
  const rest = path.slice(colon + 1)
  const extension = name.slice(0, colon)
  const mayBeExtension = isRecord(value) && !typePath.test(extension)
  return (mayBeExtension ? partPath : attributePath).test(rest) ? extension : path
}
