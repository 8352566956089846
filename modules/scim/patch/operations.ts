/**
 * Reads the operations of a PATCH request (RFC 7644 §3.5.2). The dialects of identity providers are normalized: names
 * in lower case, each operation with a path and a value.
 */
import type { Filter } from 'scim2-parse-filter'

import type { StoredScimResource } from '../../../db/tables/scim.ts'
import { scimRejected } from '../../../schemas/errors.ts'
import type { ScimAttribute } from '../../../schemas/scim/attributes.ts'
import { findAttribute, type ResourceDefinition } from '../../../schemas/scim/resources.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { parseFilter } from '../filter.ts'
import { checkExtensions, checkOperations, checkPaths } from '../limits.ts'
import { findUndeclaredExtension, isSchemaName, listExtensions, splitName } from '../locate.ts'
import { invalidValue } from '../values.ts'

interface PatchTarget {
  /** The key of the extension; undefined for the resource itself. */
  extension?: string | undefined
  /** Undefined when the path is the extension. */
  name?: string | undefined
  attribute?: ScimAttribute | undefined
  /** Of the elements of a list. */
  filter?: Filter | undefined
  /** The part of a complex value. */
  sub?: string | undefined
}

export interface Operation {
  op: 'add' | 'replace' | 'remove'
  target: PatchTarget
  value: unknown
}

type ReadPath = (path: string, value: unknown) => PatchTarget

/**
 * The operations for this resource, whose extensions paths begin with. Throws invalidSyntax, invalidPath, invalidFilter,
 * invalidValue, noTarget and mutability.
 */
export function readOperations(
  definition: ResourceDefinition,
  body: unknown,
  resource: StoredScimResource,
): Operation[] {
  const { schemas, ...parts } = isRecord(body) ? body : {}
  const given = parts.Operations ?? parts.operations
  if (!Array.isArray(given) || given.length === 0) {
    throw scimRejected(400, 'invalidSyntax', 'Operations must be a list of operations')
  }
  checkOperations(given.length)
  checkPaths(given.flatMap(listPaths))
  const toTarget = createPathReader(definition, [
    ...listExtensions(resource),
    ...[schemas].flat().filter((name) => typeof name === 'string'),
  ])
  return given.flatMap((operation: unknown) => readOperation(toTarget, operation))
}

/** The path, or the names in the value, which may be paths. */
function listPaths(operation: unknown): string[] {
  if (!isRecord(operation)) return []
  const { path, value } = operation
  if (typeof path === 'string' && path !== '') return [path]
  return isRecord(value) ? Object.keys(value) : []
}

function readOperation(toTarget: ReadPath, given: unknown): Operation[] {
  if (!isRecord(given)) throw scimRejected(400, 'invalidSyntax', 'An operation must be an object')
  const op = readOp(given.op)
  const { path, value } = given
  if (path === undefined || path === null || path === '') {
    return withoutPath(toTarget, op, value)
  }
  if (typeof path !== 'string') throw scimRejected(400, 'invalidPath', 'path must be a string')
  const target = toTarget(path, value)
  if (isReadOnly(target)) throw scimRejected(400, 'mutability', `${path} cannot be changed`)
  return [{ op, target, value }]
}

/** Entra ID sends `Add`, `Replace` and `Remove`. */
function readOp(op: unknown): Operation['op'] {
  const name = typeof op === 'string' ? op.toLowerCase() : ''
  if (name === 'add' || name === 'replace' || name === 'remove') return name
  throw scimRejected(400, 'invalidSyntax', 'op must be add, replace or remove')
}

/** The value has attributes, whose names may be paths, as Entra ID sends them. Okta repeats the id. */
function withoutPath(toTarget: ReadPath, op: Operation['op'], value: unknown): Operation[] {
  if (op === 'remove') throw scimRejected(400, 'noTarget', 'remove needs a path')
  if (!isRecord(value)) throw invalidValue('Without a path, value must be an object')
  const entries = Object.entries(value).filter(([key]) => key.toLowerCase() !== 'schemas')
  return entries
    .map(([key, part]) => ({ op, target: toTarget(key, part), value: part }))
    .filter(({ target }) => !isReadOnly(target))
}

function isReadOnly({ extension, name, attribute }: PatchTarget): boolean {
  const isServers = !extension && ['id', 'meta', 'password'].includes(name?.toLowerCase() ?? '')
  return isServers || attribute?.mutability === 'readOnly'
}

const pathPattern = /^([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/s

const maxPathLength = 4000

/** An extension that one operation adds is declared for the next ones. */
function createPathReader(definition: ResourceDefinition, extensions: string[]): ReadPath {
  const declared = [...new Set(extensions)]
  return (path, value) => {
    if (path.length > maxPathLength) throw longPath()
    const found = splitName(definition, path, declared)
    const [head = ''] = found.rest.split('[', 1)
    if (!isSchemaName(head)) return readPath(path, found)
    declared.push(findUndeclaredExtension(path, value))
    checkExtensions(declared)
    return readPath(path, splitName(definition, path, declared))
  }
}

/** Throws invalidPath and invalidFilter. */
function readPath(
  path: string,
  { attributes, extension, rest }: ReturnType<typeof splitName>,
): PatchTarget {
  if (rest === '' && extension) return { extension }
  const [match, first = '', filter, second] = pathPattern.exec(rest) ?? []
  if (match === undefined) throw invalidPath(path, 'is not a path')
  const attribute = findAttribute(attributes, first)
  if (attribute && !attribute.multiValued) {
    if (filter !== undefined) {
      throw invalidPath(path, `selects elements, but ${attribute.name} is no list`)
    }
    if (second && !attribute.subAttributes) {
      throw invalidPath(path, `names a part, but ${attribute.name} is one value`)
    }
  }
  return {
    extension,
    name: attribute?.name ?? first,
    attribute,
    filter: filter === undefined ? undefined : parseFilter(filter),
    sub: second && (findAttribute(attribute?.subAttributes, second)?.name ?? second),
  }
}

const invalidPath = (path: string, why: string) =>
  scimRejected(400, 'invalidPath', `${path} ${why}`)

const longPath = () => invalidPath('A path', `has at most ${maxPathLength} characters`)
