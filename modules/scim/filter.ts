/** Filters (RFC 7644 §3.4.2.2): the grammar is that of scim2-parse-filter, the attributes are those of the schemas. */
import { type Compare, type Filter, parse } from 'scim2-parse-filter'

import type { Condition, Place, ValueType } from '../../db/scim/conditions.ts'
import { scimRejected } from '../../schemas/errors.ts'
import type { ScimAttribute } from '../../schemas/scim/attributes.ts'
import { findAttribute, type ResourceDefinition } from '../../schemas/scim/resources.ts'
import { type Location, locate, toValueType } from './locate.ts'

const maxFilterLength = 2000
/** Each is part of the statement. */
const maxTerms = 50

/** Throws invalidFilter. */
export function parseFilter(text: string): Filter {
  if (text.length > maxFilterLength) {
    throw invalidFilter(`it is longer than ${maxFilterLength} characters`)
  }
  let filter: Filter
  try {
    filter = parse(text)
  } catch {
    throw invalidFilter('it cannot be parsed')
  }
  if (countTerms(filter) > maxTerms) throw invalidFilter(`it has more than ${maxTerms} terms`)
  return hasPartOfElement(text) ? joinElements(filter) : filter
}

/** Whether the text has a path such as `emails[type eq "work"].value`. */
const hasPartOfElement = (text: string) => text.replace(/"(?:[^"\\]|\\.)*"/g, '').includes('].')

/** The parser makes two conditions of such a path, which different elements could meet. */
function joinElements(filter: Filter): Filter {
  if ('filter' in filter) return { ...filter, filter: joinElements(filter.filter) }
  if (!('filters' in filter)) return filter
  const [element, part, ...others] = filter.filters
  if (filter.op === 'and' && others.length === 0 && element && part) {
    const start = 'valFilter' in element ? `${element.attrPath}.` : undefined
    if (start && 'valFilter' in element && 'attrPath' in part && part.attrPath.startsWith(start)) {
      const inElement = { ...part, attrPath: part.attrPath.slice(start.length) }
      return { ...element, valFilter: { op: 'and', filters: [element.valFilter, inElement] } }
    }
  }
  return { ...filter, filters: filter.filters.map(joinElements) }
}

/** Throws invalidFilter. */
export function readFilter(definition: ResourceDefinition, text: string): Condition {
  return toCondition(parseFilter(text), (name) => locate(definition, name))
}

/** A negation counts as well. */
export function countTerms(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, part) => sum + countTerms(part), 0)
  if ('filter' in filter) return 1 + countTerms(filter.filter)
  return 'valFilter' in filter ? 1 + countTerms(filter.valFilter) : 1
}

/** The condition for an element of a list. An attribute without a definition is compared as it was sent. */
export function toElementCondition(filter: Filter, list: ScimAttribute | undefined): Condition {
  return toCondition(filter, (name, operand) => {
    const attribute = findAttribute(list?.subAttributes, name)
    if (attribute) return { place: { path: [attribute.name], type: toValueType(attribute) } }
    return { place: { path: [name], type: typeof operand === 'boolean' ? 'boolean' : 'text' } }
  })
}

type Locate = (name: string, operand: unknown) => Location

function toCondition(filter: Filter, locateName: Locate): Condition {
  if ('filters' in filter) {
    return { kind: filter.op, of: filter.filters.map((part) => toCondition(part, locateName)) }
  }
  if ('filter' in filter) return { kind: 'not', of: toCondition(filter.filter, locateName) }
  if ('valFilter' in filter) return elementCondition(filter.attrPath, filter.valFilter, locateName)
  const operand = 'compValue' in filter ? filter.compValue : undefined
  const location = locateName(filter.attrPath, operand)
  if ('place' in location) return toTerm(filter, location.place)
  const { list, sub } = location
  if (!sub && !('compValue' in filter)) return matchElement(location, undefined)
  const attribute = sub ?? findAttribute(list.subAttributes, 'value')
  if (!attribute) throw invalidFilter(`${filter.attrPath} cannot be compared`)
  return matchElement(
    location,
    toTerm(filter, { path: [attribute.name], type: toValueType(attribute) }),
  )
}

function elementCondition(name: string, filter: Filter, locateName: Locate): Condition {
  const location = locateName(name, undefined)
  if ('place' in location) throw invalidFilter(`${name} has no elements`)
  const inElement: Locate = (part) => {
    const attribute = findAttribute(location.list.subAttributes, part)
    if (!attribute) throw invalidFilter(`${name} has no attribute ${part}`)
    return { place: { path: [attribute.name], type: toValueType(attribute) } }
  }
  return matchElement(location, toCondition(filter, inElement))
}

function matchElement(
  { list, path }: Extract<Location, { list: unknown }>,
  where: Condition | undefined,
): Condition {
  const to = list.name
  if (to === 'groups' || to === 'members') return { kind: 'related', to, where }
  return { kind: 'some', list: path, where }
}

function toTerm(filter: Compare | Exclude<Filter, Compare>, place: Place): Condition {
  if (!('compValue' in filter)) return { kind: 'present', place }
  return {
    kind: 'compare',
    place,
    comparison: filter.op,
    value: readOperand(place.type, filter),
  }
}

const invalidFilter = (why: string) =>
  scimRejected(400, 'invalidFilter', `The filter is invalid: ${why}`)

// The value that an attribute is compared with in a filter.

/** Throws invalidFilter for a value or an operator that the type does not have. */
function readOperand(
  type: ValueType,
  { op, attrPath, compValue }: Compare,
): string | boolean | Date | null {
  const isEquality = op === 'eq' || op === 'ne'
  if (compValue === null) {
    if (isEquality) return null
    throw mismatch(`${attrPath} cannot be ordered by null`)
  }
  if (type === 'boolean') {
    const text = String(compValue).toLowerCase()
    if (isEquality && (text === 'true' || text === 'false')) return text === 'true'
    throw mismatch(`${attrPath} is compared by eq or ne with true or false`)
  }
  if (type === 'time') {
    const time = new Date(typeof compValue === 'string' ? compValue : Number.NaN)
    if (!['co', 'sw', 'ew'].includes(op) && !Number.isNaN(time.getTime())) return time
    throw mismatch(`${attrPath} is compared with a date such as "2026-11-25T12:00:00Z"`)
  }
  if (typeof compValue !== 'boolean') return String(compValue)
  throw mismatch(`${attrPath} is compared with a string`)
}

const mismatch = (why: string) =>
  scimRejected(400, 'invalidFilter', `The filter is invalid: ${why}`)
