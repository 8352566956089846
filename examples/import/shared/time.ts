/** Times of exports. */
import { isObject } from './json.ts'

const digits = /^\d+(?:\.\d+)?$/
const zone = /(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)(?: \(.*\))?$/i

/**
 * RFC 3339, from seconds or milliseconds since 1970 (numbers or text), MongoDB's extended JSON, or a date and time. One
 * without zone is UTC. Undefined for anything else.
 */
export function toTime(value: unknown): string | undefined {
  if (isObject(value)) return toTime(value.$date ?? value.$numberLong)
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value).trim()
  const date = digits.test(text) ? fromNumber(Number(text)) : fromText(text)
  return Number.isNaN(date.getTime()) || date.getTime() < 0 ? undefined : date.toISOString()
}

/** Seconds until the year 5138, above them milliseconds. */
const fromNumber = (value: number) => new Date(value < 1e11 ? value * 1000 : value)

function fromText(text: string): Date {
  if (zone.test(text) || /^\d{4}-\d\d-\d\d$/.test(text)) return new Date(text)
  const iso = new Date(`${text}Z`)
  return Number.isNaN(iso.getTime()) ? new Date(`${text} UTC`) : iso
}
