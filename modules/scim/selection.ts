/** The attributes that a client requested (RFC 7644 §3.4.2.5). */
import { scimRejected } from '../../schemas/errors.ts'
import type { ResourceDefinition } from '../../schemas/scim/resources.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { isSchemaName } from './extensions.ts'
import { splitName } from './locate.ts'

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
