/** The attributes that a client requested (RFC 7644 §3.4.2.5). */
import type { ResourceDefinition } from '../../schemas/scim/resources.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { splitName } from './locate.ts'

type Parts = Record<string, unknown>
/** In lower case. */
type Path = readonly string[]

export interface Selection {
  attributes?: string | undefined
  excludedAttributes?: string | undefined
}

/** Returned whatever is selected (RFC 7643 §7). */
const always = ['schemas', 'id']

/** Unknown names select nothing; throws no error. */
export function selectAttributes(
  definition: ResourceDefinition,
  resource: Parts,
  { attributes, excludedAttributes }: Selection,
): Parts {
  const list = attributes || excludedAttributes
  if (!list) return resource
  const paths = readPaths(definition, list)
  const keep = attributes ? pick : drop
  return parts(resource, (name, value) =>
    always.includes(name) ? value : keep(name, value, paths),
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

function readPaths(definition: ResourceDefinition, list: string): Path[] {
  const names = list.split(',').map((name) => name.trim())
  return names
    .filter((name) => name !== '')
    .map((name) => {
      const { extension, rest } = splitName(definition, name)
      const below = rest === '' ? [] : rest.split('.')
      return [...(extension ? [extension] : []), ...below].map((part) => part.toLowerCase())
    })
}

function pick(name: string, value: unknown, paths: readonly Path[]): unknown {
  const own = pathsBelow(name, paths)
  if (own.some((rest) => rest.length === 0)) return value
  return own.length === 0 ? undefined : each(value, (part, inner) => pick(part, inner, own))
}

function drop(name: string, value: unknown, paths: readonly Path[]): unknown {
  const own = pathsBelow(name, paths)
  if (own.some((rest) => rest.length === 0)) return undefined
  return own.length === 0 ? value : each(value, (part, inner) => drop(part, inner, own))
}

function pathsBelow(name: string, paths: readonly Path[]): Path[] {
  return paths.filter(([first]) => first === name.toLowerCase()).map(([, ...rest]) => rest)
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
