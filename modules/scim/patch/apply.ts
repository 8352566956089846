/** Applies the operations of a PATCH request to a resource. */
import type { StoredScimResource } from '../../../db/tables/scim.ts'
import { findAttribute, type ResourceDefinition } from '../../../schemas/scim/resources.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { checkElements, checkOperations } from '../limits.ts'
import { complete, readValue, withOnePrimary } from '../values.ts'
import { asArray, changedElements, readPart, union, withoutAttribute } from './elements.ts'
import type { Operation } from './operations.ts'

type Parts = Record<string, unknown>

/** Returns the changed resource and does not modify its argument. Throws invalidValue, noTarget and 413. */
export function applyOperations(
  definition: ResourceDefinition,
  resource: StoredScimResource,
  operations: readonly Operation[],
): StoredScimResource {
  const changed = structuredClone(resource)
  const singles = operations.flatMap((operation) => splitExtension(definition, operation))
  checkOperations(singles.length)
  for (const single of singles) applyOne(changed, single)
  return complete(definition, changed)
}

/** Splits an operation on a whole extension into one for each of its attributes. */
function splitExtension({ extensions }: ResourceDefinition, operation: Operation): Operation[] {
  const { op, target, value } = operation
  const { extension } = target
  if (!extension || target.name !== undefined || op === 'remove') return [operation]
  return Object.entries(isRecord(value) ? value : {}).map(([key, part]) => {
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

function applyToAttribute(parts: Parts, name: string, operation: Operation): void {
  checkElements(name, parts[name])
  const next = changedValue(parts[name], operation)
  if (isEmpty(next)) delete parts[name]
  else parts[name] = Array.isArray(next) ? withOnePrimary(next) : next
}

function changedValue(present: unknown, operation: Operation): unknown {
  const { op, target, value } = operation
  const { attribute, filter, sub } = target
  const isList = attribute ? attribute.multiValued : Array.isArray(present)
  if (filter || (isList && sub)) return changedElements(asArray(present), operation)
  if (op === 'remove') return removed(present, operation)
  if (sub) return { ...(isRecord(present) && present), ...readPart(operation) }
  const read = readValue(attribute, value)
  if (isList && op === 'add') return union(asArray(present), asArray(read))
  // RFC 7644 §3.5.2.3: of a complex value, the given parts are replaced.
  return isRecord(present) && isRecord(read) ? { ...present, ...read } : read
}

/** With a value, removes only these elements, as Entra ID requests. */
function removed(present: unknown, { target: { sub }, value }: Operation): unknown {
  if (sub) return withoutAttribute(present, sub)
  if (value === undefined || value === null || !Array.isArray(present)) return undefined
  const removedKeys = asArray(value).map((one) => (isRecord(one) ? one.value : one))
  return present.filter((one) => !removedKeys.includes(isRecord(one) ? one.value : one))
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) && Object.values(value).every((part) => part === undefined)
}
