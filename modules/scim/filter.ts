/** Filters (RFC 7644 §3.4.2.2): the grammar is that of scim2-parse-filter, the attributes are those of the schemas. */
import { type Compare, type Filter, parse } from 'scim2-parse-filter'

import type { Condition, Place } from '../../db/scim/conditions.ts'
import { scimRejected } from '../../schemas/errors.ts'
import { findAttribute, type ResourceDefinition } from '../../schemas/scim/resources.ts'
import { type Location, locate, toValueType } from './locate.ts'
import { readOperand } from './operand.ts'

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
  return filter
}

/** Throws invalidFilter. */
export function readFilter(definition: ResourceDefinition, text: string): Condition {
  return toCondition(parseFilter(text), (name) => locate(definition, name))
}

function countTerms(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, part) => sum + countTerms(part), 0)
  if ('filter' in filter) return countTerms(filter.filter)
  return 'valFilter' in filter ? 1 + countTerms(filter.valFilter) : 1
}

type Locate = (name: string) => Location

function toCondition(filter: Filter, locateName: Locate): Condition {
  if ('filters' in filter) {
    return { kind: filter.op, of: filter.filters.map((part) => toCondition(part, locateName)) }
  }
  if ('filter' in filter) return { kind: 'not', of: toCondition(filter.filter, locateName) }
  if ('valFilter' in filter) return elementCondition(filter.attrPath, filter.valFilter, locateName)
  const location = locateName(filter.attrPath)
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
  const location = locateName(name)
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
