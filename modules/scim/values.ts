/** Reads and normalizes the attributes that a client sends. */
import type { StoredScimResource } from '../../db/tables/scim.ts'
import { scimRejected } from '../../schemas/errors.ts'
import type { ScimAttribute } from '../../schemas/scim/attributes.ts'
import { findAttribute, type ResourceDefinition } from '../../schemas/scim/resources.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { checkExtensions, checkSize } from './limits.ts'
import { listExtensions, splitName } from './locate.ts'

/** Set by the server, or never stored. In lower case. */
const ignored = ['id', 'meta', 'schemas', 'password', '__proto__']

/** Whether the name, in any case and with the schema or without, is that of an ignored attribute. */
function isIgnored(definition: ResourceDefinition, name: string): boolean {
  const { extension, rest } = splitName(definition, name)
  return !extension && ignored.includes(rest.toLowerCase().split('.')[0] ?? '')
}

/**
 * The resource as it is stored: canonical names, no values that the server sets, unknown attributes as they were sent.
 * Throws invalidValue.
 */
export function readResource(definition: ResourceDefinition, body: unknown): StoredScimResource {
  if (!isRecord(body)) throw invalidValue('The body must be a JSON object')
  // A user is active unless the client says otherwise.
  const resource: StoredScimResource = definition.type === 'User' ? { active: true } : {}
  for (const [key, value] of Object.entries(body)) {
    if (isIgnored(definition, key)) continue
    const [name, read] = readEntry(definition, key, value)
    if (read !== undefined) resource[name] = read
  }
  return complete(definition, resource)
}

/** Adds the schemas, and checks what is required and the size. Throws invalidValue and 413. */
export function complete(
  definition: ResourceDefinition,
  resource: StoredScimResource,
): StoredScimResource {
  for (const { name, required } of definition.attributes) {
    const value = resource[name]
    if (required && (typeof value !== 'string' || value.trim() === '')) {
      throw invalidValue(`${name} is required`)
    }
  }
  checkSize(definition, resource)
  const { schemas: _schemas, ...attributes } = resource
  const extensions = listExtensions(attributes)
  checkExtensions(extensions)
  return { schemas: [definition.schema, ...extensions], ...attributes }
}

function readEntry(
  { attributes, extensions }: ResourceDefinition,
  key: string,
  value: unknown,
): [string, unknown] {
  const urn = Object.keys(extensions).find((known) => known.toLowerCase() === key.toLowerCase())
  if (urn !== undefined) return [urn, readParts(extensions[urn], value, urn)]
  const attribute = findAttribute(attributes, key)
  return [attribute?.name ?? key, readValue(attribute, value)]
}

/** Undefined for a value that is not assigned, or that only the server sets. Throws invalidValue. */
export function readValue(attribute: ScimAttribute | undefined, value: unknown): unknown {
  if (value === null || value === undefined) return undefined
  if (!attribute) return value
  if (attribute.mutability === 'readOnly') return undefined
  if (!attribute.multiValued) return readSingle(attribute, unwrap(attribute, value))
  const elements = [value].flat().flatMap((element) => readSingle(attribute, element) ?? [])
  return elements.length > 0 ? withOnePrimary(elements) : undefined
}

/** Some clients send a list of one for a single value, which Entra ID put into an object besides. */
function unwrap({ subAttributes }: ScimAttribute, value: unknown): unknown {
  if (!Array.isArray(value) || value.length > 1) return value
  const [one] = value
  return !subAttributes && isRecord(one) ? one.value : one
}

function readSingle(attribute: ScimAttribute, value: unknown): unknown {
  const { name, subAttributes, type } = attribute
  if (value === null || value === undefined) return undefined
  if (subAttributes) {
    if (!isRecord(value) && typeof value !== 'string') throw invalidType(name, 'an object')
    // Some clients send the value alone, such as the id of a manager.
    return readParts(subAttributes, isRecord(value) ? value : { value }, name)
  }
  if (type === 'boolean') return readBoolean(name, value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') throw invalidType(name, 'a string')
  return value === '' ? undefined : value
}

/** Entra ID sends `"False"`. */
function readBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value.toLowerCase() : ''
  if (text !== 'true' && text !== 'false') throw invalidBoolean(name)
  return text === 'true'
}

function readParts(
  attributes: readonly ScimAttribute[] | undefined,
  value: unknown,
  name: string,
): Record<string, unknown> | undefined {
  if (value === null || value === undefined) return undefined
  if (!isRecord(value)) throw invalidType(name, 'an object')
  const parts: Record<string, unknown> = {}
  for (const [key, part] of Object.entries(value)) {
    const attribute = findAttribute(attributes, key)
    const read = readValue(attribute, part)
    if (read !== undefined) parts[attribute?.name ?? key] = read
  }
  return Object.keys(parts).length > 0 ? parts : undefined
}

/** RFC 7643 §2.4: of several primary values, the last one that was set counts, which is not among the earlier ones. */
export function withOnePrimary(
  elements: readonly unknown[],
  earlier: readonly unknown[] = [],
): unknown[] {
  const known = new Set(earlier)
  const primaries = elements.filter((element) => isRecord(element) && element.primary === true)
  const chosen = primaries.findLast((element) => !known.has(element)) ?? primaries.at(-1)
  return elements.map((element) =>
    isRecord(element) && element.primary === true && element !== chosen
      ? { ...element, primary: false }
      : element,
  )
}

export const invalidValue = (detail: string) => scimRejected(400, 'invalidValue', detail)

export const invalidBoolean = (name: string) => invalidType(name, 'true or false')

const invalidType = (name: string, expected: string) => invalidValue(`${name} must be ${expected}`)

/** JSON with sorted keys, for comparisons: Postgres orders the keys of a stored document differently. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
