/** Moments as answers have them. */
import { Type } from '@sinclair/typebox'

export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC' })

/** RFC 3339 in UTC with milliseconds, or with all that Postgres knows; from a Date or from what a JSON aggregate holds. */
export function toTimestamp(value: string | Date): string {
  if (typeof value !== 'string') return value.toISOString()
  return fromAggregate(value) ?? fromAnyZone(value)
}

/**
 * `2026-11-22T10:00:00.123456+00:00` in our form: three times as fast as by way of a Date, which a list of people pays
 * hundreds of times. Undefined for another form, and so for another time zone.
 */
function fromAggregate(text: string): string | undefined {
  if (text[10] !== 'T' || !text.endsWith('+00:00')) return undefined
  const fraction = text.slice(20, -6).padEnd(3, '0')
  return `${text.slice(0, 19)}.${fraction}Z`
}

function fromAnyZone(text: string): string {
  const beyondMilliseconds = /\.\d{3}(\d+)/.exec(text)?.[1] ?? ''
  return `${new Date(text).toISOString().slice(0, -1)}${beyondMilliseconds}Z`
}
