/** Where the attribute of a filter is stored. */
import type { Place, ValueType } from '../../db/scim/conditions.ts'
import { scimRejected } from '../../schemas/errors.ts'
import type { ScimAttribute } from '../../schemas/scim/attributes.ts'
import {
  findAttribute,
  type ResourceDefinition,
  type ResourceType,
} from '../../schemas/scim/resources.ts'
import { isRecord } from '../../schemas/values/record.ts'

export type Location =
  | { place: Place }
  | { list: ScimAttribute; path: readonly string[]; sub: ScimAttribute | undefined }

/** Maps: a client may send the name of a property that every object has. */
type Columns = ReadonlyMap<string, Place>

const columns: Columns = new Map([
  ['id', { column: 'id', type: 'exact' }],
  ['externalid', { column: 'external_id', type: 'exact' }],
  ['meta.created', { column: 'created_at', type: 'time' }],
  ['meta.lastmodified', { column: 'updated_at', type: 'time' }],
])
const columnsOfType: Readonly<Record<ResourceType, Columns>> = {
  User: new Map([
    ['username', { column: 'user_name', type: 'text', isFolded: true }],
    ['active', { column: 'active', type: 'boolean' }],
  ]),
  Group: new Map([['displayname', { column: 'display_name', type: 'text', isFolded: true }]]),
}

/** Throws invalidFilter for an attribute that is not in the schemas. */
export function locate(definition: ResourceDefinition, name: string): Location {
  const { attributes, extension, rest } = splitName(definition, name)
  const lower = rest.toLowerCase()
  const column = columns.get(lower) ?? columnsOfType[definition.type].get(lower)
  if (column && !extension) return { place: column }
  const [first = '', second, ...others] = rest.split('.')
  const attribute = findAttribute(attributes, first)
  const sub = second === undefined ? undefined : findAttribute(attribute?.subAttributes, second)
  if (!attribute || others.length > 0 || (second !== undefined && !sub)) {
    const detail = `The filter is invalid: ${name} is not an attribute of ${definition.type}`
    throw scimRejected(400, 'invalidFilter', detail)
  }
  const path = [...(extension ? [extension] : []), attribute.name]
  if (attribute.multiValued) return { list: attribute, path, sub }
  return { place: { path: sub ? [...path, sub.name] : path, type: toValueType(sub ?? attribute) } }
}

/**
 * Splits a name into the longest schema that it begins with and the rest. `declared`: extensions without a schema in
 * the table, whose attributes have no definition.
 */
export function splitName(
  { attributes, extensions, schema }: ResourceDefinition,
  name: string,
  declared: readonly string[] = [],
) {
  const lower = name.toLowerCase()
  let longest: string | undefined
  for (const urn of [schema, ...Object.keys(extensions), ...declared]) {
    const isNext = lower.length === urn.length || lower.charAt(urn.length) === ':'
    if (!isNext || urn.length <= (longest ?? '').length) continue
    if (lower.startsWith(urn.toLowerCase())) longest = urn
  }
  if (longest === undefined) return { attributes, extension: undefined, rest: name }
  const rest = name.slice(longest.length + 1)
  if (longest === schema) return { attributes, extension: undefined, rest }
  return { attributes: extensions[longest], extension: longest, rest }
}

export function toValueType({ type, caseExact }: ScimAttribute): ValueType {
  if (type === 'boolean') return 'boolean'
  return caseExact ? 'exact' : 'text'
}

/** Names of attributes have no colon, and those of schemas do. */
export const isSchemaName = (name: string): boolean => name.includes(':')

/**
 * The extensions that the resource has. Clients use them without a schema in the table (RFC 7643 §3.3), and they are
 * stored as they are sent.
 */
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
