/** Changes of the elements of a list. */
import { filter as createMatcher, type Filter } from 'scim2-parse-filter'

import { scimRejected } from '../../../schemas/errors.ts'
import { findAttribute } from '../../../schemas/scim/resources.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { canonicalJson } from '../canonical-json.ts'
import { readValue } from '../values.ts'
import type { Operation } from './operations.ts'

type Parts = Record<string, unknown>

/** Changes the elements that match the filter, or all of them without one. Throws noTarget. */
export function changedElements(elements: readonly unknown[], operation: Operation): unknown[] {
  const { op, target } = operation
  const { filter, sub } = target
  const matches = filter ? createMatcher(filter) : () => true
  const isTarget = (element: unknown) => isRecord(element) && matches(element)
  if (op === 'remove') {
    if (!sub) return elements.filter((element) => !isTarget(element))
    return elements.map((element) => (isTarget(element) ? withoutAttribute(element, sub) : element))
  }
  const part = readPart(operation)
  if (!elements.some(isTarget)) return [...elements, { ...selected(filter), ...part }]
  return elements.map((element) =>
    isTarget(element) && isRecord(element) ? { ...element, ...part } : element,
  )
}

/** The parts that the filter gives a new element: Entra ID adds `emails[type eq "work"].value`. Throws noTarget. */
function selected(filter: Filter | undefined): Parts {
  if (!filter) return {}
  if (filter.op === 'eq' && 'compValue' in filter) return { [filter.attrPath]: filter.compValue }
  if (filter.op === 'and' && 'filters' in filter) {
    return Object.assign({}, ...filter.filters.map(selected))
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
export function union(present: readonly unknown[], more: readonly unknown[]): unknown[] {
  const added = new Set(more.map(toKey))
  return [...present.filter((one) => !added.has(toKey(one))), ...more]
}

function toKey(element: unknown): string {
  const isNamed = isRecord(element) && element.value !== undefined
  return canonicalJson(isNamed ? [element.value, element.type] : element)
}

export function withoutAttribute(value: unknown, name: string): Parts {
  const { [name]: _gone, ...rest } = isRecord(value) ? value : {}
  return rest
}

export const asArray = (value: unknown): unknown[] => (value === undefined ? [] : [value].flat())
