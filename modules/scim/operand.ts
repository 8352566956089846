/** The value that an attribute is compared with in a filter. */
import type { Compare } from 'scim2-parse-filter'

import type { ValueType } from '../../db/scim/conditions.ts'
import { scimRejected } from '../../schemas/errors.ts'

/** Throws invalidFilter for a value or an operator that the type does not have. */
export function readOperand(
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
