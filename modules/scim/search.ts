/**
 * The query of a list, in the address or in a body (RFC 7644 §3.4.3), and the attributes that a client requested (RFC
 * 7644 §3.4.2.5).
 */
import type { PagePosition, PageRequest } from '../../db/scim/conditions.ts'
import { scimRejected } from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import { defaultPageSize, listResponseUrn, maxPageSize } from '../../schemas/scim/discovery.ts'
import type { ResourceDefinition } from '../../schemas/scim/resources.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { isSchemaName, splitName } from './locate.ts'

export interface ListRequest extends Selection, ScimPageQuery {
  filter?: string | undefined
}

/** Reads the body of a search: numbers and lists instead of text. Throws invalidSyntax. */
export function readSearch(body: Record<string, unknown>): ListRequest {
  const read = (name: keyof ListRequest): string | undefined => {
    const value = body[name]
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string' || typeof value === 'number') return String(value)
    if (Array.isArray(value) && value.every((part) => typeof part === 'string')) {
      return value.join(',')
    }
    throw scimRejected(400, 'invalidSyntax', `${name} cannot be read`)
  }
  return {
    attributes: read('attributes'),
    excludedAttributes: read('excludedAttributes'),
    filter: read('filter'),
    startIndex: read('startIndex'),
    count: read('count'),
    cursor: read('cursor'),
  }
}

// Pages by startIndex and count (RFC 7644 §3.4.2.4), or by cursor (RFC 9865).

interface ScimPageQuery {
  startIndex?: string | undefined
  count?: string | undefined
  cursor?: string | undefined
}

interface RequestedPage extends PageRequest {
  startIndex: number
  byCursor: boolean
}

/** Throws invalidCursor, invalidCount and invalidValue. */
export function readScimPage({ startIndex, count, cursor }: ScimPageQuery): RequestedPage {
  const byCursor = cursor !== undefined
  const requested = readInteger('count', count, defaultPageSize)
  // A larger number is no error: fewer resources are returned.
  const limit = Math.min(Math.max(requested, 0), maxPageSize)
  if (byCursor) {
    if (requested < 1) throw scimRejected(400, 'invalidCount', 'count must be at least 1')
    return { limit, offset: 0, after: readCursor(cursor), startIndex: 1, byCursor }
  }
  const first = Math.max(1, readInteger('startIndex', startIndex, 1))
  return { limit, offset: first - 1, startIndex: first, byCursor }
}

function readInteger(name: string, text: string | undefined, preset: number): number {
  if (text === undefined || text === '') return preset
  if (/^-?\d{1,9}$/.test(text)) return Number(text)
  throw scimRejected(400, 'invalidValue', `${name} must be an integer`)
}

const timePattern = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d)?$/

/** Undefined for the first page. */
function readCursor(cursor: string): PagePosition | undefined {
  if (cursor === '') return undefined
  const [createdAt = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('|')
  if (isUuid(id) && timePattern.test(createdAt)) return { createdAt, id }
  throw scimRejected(400, 'invalidCursor', 'The cursor is not one of this server')
}

/** By cursor, one row more than the page is read, so that the last page is known to be the last. */
export const rowsToRead = ({ limit, byCursor }: RequestedPage): number => limit + (byCursor ? 1 : 0)

export function toList<Row extends { id: string; created_text: string }>(
  page: RequestedPage,
  rows: readonly Row[],
  totalResults: number,
  show: (row: Row) => object,
) {
  const shown = rows.slice(0, page.limit)
  const last = rows.length > page.limit ? shown.at(-1) : undefined
  const next = last && Buffer.from(`${last.created_text}|${last.id}`).toString('base64url')
  return {
    schemas: [listResponseUrn],
    totalResults,
    itemsPerPage: shown.length,
    ...(!page.byCursor && { startIndex: page.startIndex }),
    ...(next && { nextCursor: next }),
    Resources: shown.map(show),
  }
}

type Parts = Record<string, unknown>

/** Selected names, in lower case, with those below. */
interface Names {
  /** Ends here: everything below is selected. */
  isWhole: boolean
  below: Map<string, Names>
}

export interface Selection {
  attributes?: string | undefined
  excludedAttributes?: string | undefined
}

/** Returned whatever is selected (RFC 7643 §7). */
const always = ['schemas', 'id']

const maxNames = 200

/** Unknown names select nothing. Throws invalidValue for too many names. */
export function selectAttributes(
  definition: ResourceDefinition,
  resource: Parts,
  selection: Selection,
): Parts {
  return createSelector(definition, selection)(resource)
}

/** The same for many resources: the names are read once. */
export function createSelector(
  definition: ResourceDefinition,
  { attributes, excludedAttributes }: Selection,
): (resource: Parts) => Parts {
  const list = attributes || excludedAttributes
  if (!list) return (resource) => resource
  const names = readNames(definition, list)
  const keep = attributes ? pick : drop
  return (resource) =>
    parts(resource, (name, value) =>
      always.includes(name) ? value : keep(value, names.below.get(name.toLowerCase())),
    )
}

/** Whether the attribute can be in the response. */
export function isSelected(
  definition: ResourceDefinition,
  name: string,
  selection: Selection,
): boolean {
  return name in selectAttributes(definition, { [name]: true }, selection)
}

function readNames(definition: ResourceDefinition, list: string): Names {
  const listed = list.split(',', maxNames + 1)
  if (listed.length > maxNames) {
    throw scimRejected(400, 'invalidValue', `A request selects at most ${maxNames} attributes`)
  }
  const names: Names = { isWhole: false, below: new Map() }
  for (const name of listed.map((each) => each.trim()).filter(Boolean)) {
    for (const path of readPaths(definition, name)) addPath(names, path)
  }
  return names
}

/** A name of an extension without a schema may be that of the extension or of its attribute. */
function readPaths(definition: ResourceDefinition, given: string): string[][] {
  const name = given.toLowerCase()
  const { extension, rest } = splitName(definition, name)
  if (isSchemaName(rest)) {
    const colon = name.lastIndexOf(':')
    return [[name], [name.slice(0, colon), ...name.slice(colon + 1).split('.')]]
  }
  const below = rest === '' ? [] : rest.split('.')
  return [[...(extension ? [extension.toLowerCase()] : []), ...below]]
}

function addPath(names: Names, path: readonly string[]): void {
  let last = names
  for (const part of path) {
    const next = last.below.get(part) ?? { isWhole: false, below: new Map() }
    last.below.set(part, next)
    last = next
  }
  last.isWhole = true
}

function pick(value: unknown, names: Names | undefined): unknown {
  if (!names || names.isWhole) return names && value
  return each(value, (name, part) => pick(part, names.below.get(name.toLowerCase())))
}

function drop(value: unknown, names: Names | undefined): unknown {
  if (!names) return value
  if (names.isWhole) return undefined
  return each(value, (name, part) => drop(part, names.below.get(name.toLowerCase())))
}

/** For a list: the parts of each element. A value without parts is unchanged. */
function each(value: unknown, keep: (name: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => each(element, keep))
  return isRecord(value) ? parts(value, keep) : value
}

function parts(value: Parts, keep: (name: string, value: unknown) => unknown): Parts {
  const entries = Object.entries(value).flatMap(([name, part]) => {
    const kept = keep(name, part)
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return Object.fromEntries(entries)
}
