/** Timestamps in responses. */
import { Type } from '@sinclair/typebox'

export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC' })

/**
 * Postgres's infinity, as in rows written by hand: the latest and the earliest time that RFC 3339 can express and every
 * client can parse.
 */
const endless = new Map([
  ['infinity', '9999-12-31T23:59:59.999Z'],
  ['-infinity', '0001-01-01T00:00:00.000Z'],
])

/**
 * Returns the timestamp for infinity, undefined for any other text. The last letter decides, since a look-up of every
 * text would take longer than parsing it.
 */
export const endlessTimestamp = (text: string): string | undefined =>
  text.endsWith('infinity') ? endless.get(text) : undefined

/** RFC 3339 in UTC with milliseconds, or with Postgres's precision; from a Date or from a JSON aggregate. */
export function toTimestamp(value: string | Date): string {
  if (typeof value !== 'string') return value.toISOString()
  return fromAggregate(value) ?? endlessTimestamp(value) ?? fromAnyZone(value)
}

/**
 * Converts `2026-11-22T10:00:00.123456+00:00`, three times as fast as a Date; a list of users has hundreds. Undefined
 * for another format or time zone.
 */
function fromAggregate(text: string): string | undefined {
  if (text[10] !== 'T' || !text.endsWith('+00:00')) return undefined
  const fraction = text.slice(20, -6).padEnd(3, '0')
  return `${text.slice(0, 19)}.${fraction}Z`
}

function fromAnyZone(text: string): string {
  const fractionDigits = /\.\d{3}(\d+)/.exec(text)?.[1] ?? ''
  return `${new Date(text).toISOString().slice(0, -1)}${fractionDigits}Z`
}
