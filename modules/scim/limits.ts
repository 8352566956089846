/** Limits of a resource. A response contains it, and a list up to a thousand of them. */
import { scimRejected } from '../../schemas/errors.ts'
import type { ResourceDefinition } from '../../schemas/scim/resources.ts'

/** Bytes of JSON. */
const maxResourceBytes = 32_768
/** Postgres indexes the names. */
const maxNameBytes = 1024
const names = ['userName', 'displayName', 'externalId']
/** Of a list that PATCH changes: each operation reads all of them. */
const maxElements = 500
/** Of a PATCH, also when one operation sets many attributes. */
const maxOperations = 1000

export function isShortName(text: string): boolean {
  return Buffer.byteLength(text) <= maxNameBytes
}

/** The members of a group are rows and not part of the resource. Throws invalidValue and 413. */
export function checkSize(
  { type }: ResourceDefinition,
  resource: Readonly<Record<string, unknown>>,
): void {
  for (const name of names) {
    const value = resource[name]
    if (typeof value !== 'string' || isShortName(value)) continue
    throw scimRejected(400, 'invalidValue', `${name} is longer than ${maxNameBytes} bytes`)
  }
  const stored = type === 'Group' ? { ...resource, members: undefined } : resource
  if (Buffer.byteLength(JSON.stringify(stored)) <= maxResourceBytes) return
  throw scimRejected(413, undefined, `A ${type} has at most ${maxResourceBytes} bytes of JSON`)
}

/** Before an operation of a PATCH. Throws invalidValue. */
export function checkElements(name: string, value: unknown): void {
  if (!Array.isArray(value) || value.length <= maxElements) return
  const detail = `${name} has more than ${maxElements} elements: replace the resource with PUT`
  throw scimRejected(400, 'invalidValue', detail)
}

/** Throws 413. */
export function checkOperations(count: number): void {
  if (count <= maxOperations) return
  throw scimRejected(413, undefined, `A request has at most ${maxOperations} operations`)
}
