/** Limits of a resource. A response contains it, and a list up to a thousand of them. */
import { scimRejected } from '../../schemas/errors.ts'
import type { ResourceDefinition } from '../../schemas/scim/resources.ts'

/** Bytes of JSON. */
const maxResourceBytes = 32_768
/** Postgres indexes the names. */
const maxNameBytes = 1024
const names = ['userName', 'displayName', 'externalId']
/** Each name of a request is compared with all of them. */
const maxExtensions = 50
/** Of a list that PATCH changes: each operation reads all of them. */
const maxElements = 500
/** Of a PATCH, also when one operation sets many attributes. */
const maxOperations = 1000
/** Of a PATCH: the elements that its operations read, once more for each term of a filter. 50,000 take 10 ms. */
const maxComparisons = 50_000
/** Of the filters of a PATCH: names, operators, values and brackets. The parser takes a microsecond for each. */
const maxFilterParts = 10_000

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

/** Of the extensions that a resource or the operations of a PATCH name. Throws invalidValue. */
export function checkExtensions(names: readonly string[]): void {
  if (names.length <= maxExtensions) return
  throw scimRejected(400, 'invalidValue', `A resource has at most ${maxExtensions} extensions`)
}

/** Before an operation of a PATCH. Throws invalidValue. */
export function checkElements(name: string, value: unknown): void {
  if (!Array.isArray(value) || value.length <= maxElements) return
  const detail = `${name} has more than ${maxElements} elements: replace the resource with PUT`
  throw scimRejected(400, 'invalidValue', detail)
}

/** After each operation of a PATCH. Throws 413. */
export function checkComparisons(count: number): void {
  if (count <= maxComparisons) return
  const detail = `The operations compare more than ${maxComparisons} values: replace the resource with PUT`
  throw scimRejected(413, undefined, detail)
}

/** Before the paths of a PATCH are parsed. Throws 413. */
export function checkPaths(paths: readonly string[]): void {
  const filters = paths.filter((path) => path.includes('['))
  const count = filters.reduce((sum, path) => sum + path.split(/[\s()[\]]/).length, 0)
  if (count <= maxFilterParts) return
  throw scimRejected(
    413,
    undefined,
    `The filters of a request have at most ${maxFilterParts} parts`,
  )
}

/** Throws 413. */
export function checkOperations(count: number): void {
  if (count <= maxOperations) return
  throw scimRejected(413, undefined, `A request has at most ${maxOperations} operations`)
}
