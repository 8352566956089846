/** Applies the operations of a PATCH request to a resource. */
import type { StoredScimResource } from '../../../db/tables/scim.ts'
import { findAttribute, type ResourceDefinition } from '../../../schemas/scim/resources.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { countTerms } from '../filter.ts'
import { checkComparisons, checkElements, checkOperations } from '../limits.ts'
import { complete, invalidBoolean, invalidValue, readValue, withOnePrimary } from '../values.ts'
import {
  asArray,
  changedElements,
  readPart,
  union,
  withoutAttribute,
  withoutValues,
} from './elements.ts'
import type { Operation } from './operations.ts'

type Parts = Record<string, unknown>

/** Characters that are compared in the time of one short element. */
const charactersOfElement = 100

/** Returns the changed resource and does not modify its argument. Throws invalidValue, noTarget and 413. */
export function applyOperations(
  definition: ResourceDefinition,
  resource: StoredScimResource,
  operations: readonly Operation[],
): StoredScimResource {
  const changed = structuredClone(resource)
  const singles = operations.flatMap((operation) => splitExtension(definition, operation))
  checkOperations(singles.length)
  let comparisons = 0
  for (const single of singles) {
    comparisons += countComparisons(changed, single)
    checkComparisons(comparisons)
    applyOne(changed, single)
  }
  return complete(definition, changed)
}

/** Each element that the operation reads, once more for each term of its filter. A long one counts as several. */
function countComparisons(resource: Parts, { target, value }: Operation): number {
  const { extension, name = '', filter } = target
  const parts = extension ? resource[extension] : resource
  const present = isRecord(parts) ? asArray(parts[name]) : []
  const changes = present.length + asArray(value).length
  if (!filter) return changes
  const size = Math.max(present.length, JSON.stringify(present).length / charactersOfElement)
  return changes + size * countTerms(filter)
}

/** Splits an operation on a whole extension into one for each of its attributes. */
function splitExtension({ extensions }: ResourceDefinition, operation: Operation): Operation[] {
  const { op, target, value } = operation
  const { extension } = target
  if (!extension || target.name !== undefined || op === 'remove') return [operation]
  if (!isRecord(value)) {
    if (value === null || value === undefined) return []
    throw invalidValue(`${extension} must be an object`)
  }
  return Object.entries(value).map(([key, part]) => {
    const attribute = findAttribute(extensions[extension], key)
    return { op, target: { extension, name: attribute?.name ?? key, attribute }, value: part }
  })
}

function applyOne(resource: Parts, operation: Operation): void {
  const { extension, name } = operation.target
  if (!extension) {
    applyToAttribute(resource, name ?? '', operation)
    return
  }
  const present = resource[extension]
  const parts: Parts = isRecord(present) && name !== undefined ? present : {}
  if (name !== undefined) applyToAttribute(parts, name, operation)
  if (Object.keys(parts).length > 0) resource[extension] = parts
  else delete resource[extension]
}

function applyToAttribute(parts: Parts, given: string, operation: Operation): void {
  const name = operation.target.attribute ? given : findName(parts, given)
  const present = Object.hasOwn(parts, name) ? parts[name] : undefined
  checkElements(name, present)
  const next = changedValue(present, operation)
  if (isEmpty(next)) {
    // Without `active` a user is active. Only a removal says so; null and an empty list do not.
    const isBoolean = operation.target.attribute?.type === 'boolean'
    if (isBoolean && operation.op !== 'remove') throw invalidBoolean(name)
    delete parts[name]
  } else parts[name] = Array.isArray(next) ? withOnePrimary(next, asArray(present)) : next
}

/** The name that an attribute without a definition has in the resource. */
function findName(parts: Parts, name: string): string {
  if (Object.hasOwn(parts, name)) return name
  const lower = name.toLowerCase()
  return Object.keys(parts).find((candidate) => candidate.toLowerCase() === lower) ?? name
}

function changedValue(present: unknown, operation: Operation): unknown {
  const { op, target, value } = operation
  const { attribute, filter, sub } = target
  const isList = attribute ? attribute.multiValued : Array.isArray(present)
  if (filter || (isList && sub)) return changedElements(asArray(present), operation)
  if (op === 'remove') return removed(present, operation)
  if (sub) return { ...(isRecord(present) && present), ...readPart(operation) }
  const read = readValue(attribute, value)
  if (isList && op === 'add') return union(asArray(present), asArray(read), attribute)
  // RFC 7644 §3.5.2.3: of a complex value, the given parts are replaced.
  return isRecord(present) && isRecord(read) ? { ...present, ...read } : read
}

/** With a value, removes only these elements, as Entra ID requests. */
function removed(present: unknown, { target: { attribute, sub }, value }: Operation): unknown {
  if (sub) return withoutAttribute(present, sub)
  if (value === undefined || value === null || !Array.isArray(present)) return undefined
  return withoutValues(present, asArray(value), attribute)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) && Object.values(value).every((part) => part === undefined)
}
