/**
 * Reads the operations of a PATCH request (RFC 7644 §3.5.2). The dialects of identity providers are normalized: names
 * in lower case, each operation with a path and a value.
 */
import type { Filter } from 'scim2-parse-filter'

import { scimRejected } from '../../../schemas/errors.ts'
import type { ScimAttribute } from '../../../schemas/scim/attributes.ts'
import { findAttribute, type ResourceDefinition } from '../../../schemas/scim/resources.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { parseFilter } from '../filter.ts'
import { checkOperations } from '../limits.ts'
import { splitName } from '../locate.ts'
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

/** Throws invalidSyntax, invalidPath, invalidFilter, invalidValue, noTarget and mutability. */
export function readOperations(definition: ResourceDefinition, body: unknown): Operation[] {
  const given = isRecord(body) ? (body.Operations ?? body.operations) : undefined
  if (!Array.isArray(given) || given.length === 0) {
    throw scimRejected(400, 'invalidSyntax', 'Operations must be a list of operations')
  }
  checkOperations(given.length)
  return given.flatMap((operation: unknown) => readOperation(definition, operation))
}

function readOperation(definition: ResourceDefinition, given: unknown): Operation[] {
  if (!isRecord(given)) throw scimRejected(400, 'invalidSyntax', 'An operation must be an object')
  const op = readOp(given.op)
  const { path, value } = given
  if (path === undefined || path === null || path === '') {
    return withoutPath(definition, op, value)
  }
  if (typeof path !== 'string') throw scimRejected(400, 'invalidPath', 'path must be a string')
  const target = readPath(definition, path)
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
function withoutPath(
  definition: ResourceDefinition,
  op: Operation['op'],
  value: unknown,
): Operation[] {
  if (op === 'remove') throw scimRejected(400, 'noTarget', 'remove needs a path')
  if (!isRecord(value)) throw invalidValue('Without a path, value must be an object')
  const entries = Object.entries(value).filter(([key]) => key.toLowerCase() !== 'schemas')
  return entries
    .map(([key, part]) => ({ op, target: readPath(definition, key), value: part }))
    .filter(({ target }) => !isReadOnly(target))
}

function isReadOnly({ extension, name, attribute }: PatchTarget): boolean {
  const isServers = !extension && ['id', 'meta', 'password'].includes(name?.toLowerCase() ?? '')
  return isServers || attribute?.mutability === 'readOnly'
}

const pathPattern = /^([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/s

/** Throws invalidPath and invalidFilter. */
function readPath(definition: ResourceDefinition, path: string): PatchTarget {
  const { attributes, extension, rest } = splitName(definition, path)
  if (rest === '' && extension) return { extension }
  // An unknown extension is stored as sent.
  if (/^urn:/i.test(rest)) return { name: rest }
  const [match, first = '', filter, second] = pathPattern.exec(rest) ?? []
  if (match === undefined) throw scimRejected(400, 'invalidPath', `${path} is not a path`)
  const attribute = findAttribute(attributes, first)
  return {
    extension,
    name: attribute?.name ?? first,
    attribute,
    filter: filter === undefined ? undefined : parseFilter(filter),
    sub: second && (findAttribute(attribute?.subAttributes, second)?.name ?? second),
  }
}
