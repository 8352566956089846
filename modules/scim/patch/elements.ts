/** Changes of the elements of a list. */
import type { Filter } from 'scim2-parse-filter'

import type { Condition, Place } from '../../../db/scim/conditions.ts'
import { scimRejected } from '../../../schemas/errors.ts'
import type { ScimAttribute } from '../../../schemas/scim/attributes.ts'
import { findAttribute } from '../../../schemas/scim/resources.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { toElementCondition } from '../filter.ts'
import { canonicalJson, readValue } from '../values.ts'
import type { Operation } from './operations.ts'

type Parts = Record<string, unknown>

/** Changes the elements that match the filter, or all of them without one. Throws invalidFilter and noTarget. */
export function changedElements(elements: readonly unknown[], operation: Operation): unknown[] {
  const { op, target } = operation
  const { attribute, filter, sub } = target
  const isTarget = filter ? createMatcher(filter, attribute) : () => true
  if (op === 'remove') {
    if (!sub) return elements.filter((element) => !isTarget(element))
    return elements.map((element) => (isTarget(element) ? withoutAttribute(element, sub) : element))
  }
  const part = readPart(operation)
  if (!elements.some(isTarget)) return [...elements, { ...selected(filter, attribute), ...part }]
  return elements.map((element) =>
    isTarget(element) && isRecord(element) ? { ...element, ...part } : element,
  )
}

/** The parts that the filter gives a new element: Entra ID adds `emails[type eq "work"].value`. Throws noTarget. */
function selected(filter: Filter | undefined, list: ScimAttribute | undefined): Parts {
  if (!filter) return {}
  if (filter.op === 'eq' && 'compValue' in filter) {
    const attribute = findAttribute(list?.subAttributes, filter.attrPath)
    const value = readValue(attribute, filter.compValue)
    return value === undefined ? {} : { [attribute?.name ?? filter.attrPath]: value }
  }
  if (filter.op === 'and' && 'filters' in filter) {
    return Object.assign({}, ...filter.filters.map((part) => selected(part, list)))
  }
  throw scimRejected(400, 'noTarget', 'No value matches the filter of the path')
}

/** The value for the part of the path, or the parts that the value has. Throws invalidValue. */
export function readPart({ target: { attribute, sub }, value }: Operation): Parts {
  if (sub) return { [sub]: readValue(findAttribute(attribute?.subAttributes, sub), value) }
  const single = attribute && { ...attribute, multiValued: false }
  const read = readValue(single, [value].flat()[0])
  return isRecord(read) ? read : {}
}

/** Removes duplicates: equal values, and values with the same value and type. */
export function union(
  present: readonly unknown[],
  more: readonly unknown[],
  list: ScimAttribute | undefined,
): unknown[] {
  const toKey = createKey(list)
  const added = new Set(more.map(toKey))
  return [...present.filter((one) => !added.has(toKey(one))), ...more]
}

function createKey(list: ScimAttribute | undefined): (element: unknown) => string {
  const [value, type] = ['value', 'type'].map((name) => createFold(list, name))
  return (element) => {
    if (!isRecord(element) || element.value === undefined) return canonicalJson(element)
    const key = [value?.(element.value), type?.(element.type)]
    // Canonical JSON takes five times as long.
    return key.every((part) => typeof part !== 'object') ? JSON.stringify(key) : canonicalJson(key)
  }
}

/** Without the elements that have one of these values. */
export function withoutValues(
  present: readonly unknown[],
  values: readonly unknown[],
  list: ScimAttribute | undefined,
): unknown[] {
  const fold = createFold(list, 'value')
  const toValue = (one: unknown) => fold(isRecord(one) ? one.value : one)
  const removed = new Set(values.map(toValue))
  return present.filter((one) => !removed.has(toValue(one)))
}

/** Letter case counts only where the attribute says so. */
function createFold(list: ScimAttribute | undefined, name: string): (value: unknown) => unknown {
  const isExact = findAttribute(list?.subAttributes, name)?.caseExact ?? false
  return (value) => (typeof value === 'string' && !isExact ? value.toLowerCase() : value)
}

export function withoutAttribute(value: unknown, name: string): Parts {
  const { [name]: _gone, ...rest } = isRecord(value) ? value : {}
  return rest
}

export const asArray = (value: unknown): unknown[] => (value === undefined ? [] : [value].flat())

// Conditions for the elements of a list, with the results that they have as SQL (`db/scim/conditions.ts`).

type Matcher = (element: Readonly<Record<string, unknown>>) => boolean

/** Throws invalidFilter. */
function createMatcher(
  filter: Filter,
  list: ScimAttribute | undefined,
): (element: unknown) => boolean {
  const matches = compile(toElementCondition(filter, list))
  return (element) => matches(isRecord(element) ? element : { value: element })
}

function compile(condition: Condition): Matcher {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const parts = condition.of.map(compile)
      if (condition.kind === 'or') return (element) => parts.some((part) => part(element))
      return (element) => parts.every((part) => part(element))
    }
    case 'not': {
      const negated = compile(condition.of)
      return (element) => !negated(element)
    }
    case 'present': {
      const read = reader(condition.place)
      return (element) => isPresent(read(element))
    }
    case 'compare':
      return compileComparison(condition)
    default:
      throw new Error('an element has no lists')
  }
}

/** The value as text; null without one. */
function reader(place: Place): (element: Readonly<Record<string, unknown>>) => string | null {
  const [name = ''] = 'path' in place ? place.path : []
  return (element) => {
    const value = Object.hasOwn(element, name) ? element[name] : undefined
    if (value === undefined || value === null) return null
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
}

const isPresent = (text: string | null) => text !== null && !['', '[]', '{}'].includes(text)

function compileComparison({
  place,
  comparison,
  value,
}: Extract<Condition, { kind: 'compare' }>): Matcher {
  const read = reader(place)
  if (value === null) {
    return (element) => isPresent(read(element)) === (comparison === 'ne')
  }
  const isBoolean = typeof value === 'boolean'
  const fold = place.type === 'text' ? (text: string) => text.toLowerCase() : (text: string) => text
  const given = fold(String(value))
  return (element) => {
    const text = read(element) ?? (isBoolean ? 'false' : null)
    return compare(comparison, text === null ? null : fold(text), given)
  }
}

type Comparison = Extract<Condition, { kind: 'compare' }>['comparison']

function compare(comparison: Comparison, text: string | null, given: string): boolean {
  if (text === null) return comparison === 'ne'
  switch (comparison) {
    case 'eq':
      return text === given
    case 'ne':
      return text !== given
    case 'co':
      return text.includes(given)
    case 'sw':
      return text.startsWith(given)
    case 'ew':
      return text.endsWith(given)
    case 'gt':
      return text > given
    case 'ge':
      return text >= given
    case 'lt':
      return text < given
    case 'le':
      return text <= given
  }
}
