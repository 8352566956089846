import { validationFailed } from '../../schemas/errors.ts'

const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** RFC 3339; undefined when the field is absent. Throws validation_failed. */
export function readTime(field: string, value: string | undefined): Date | undefined {
  if (value === undefined) return undefined
  const [, date = ''] = rfc3339.exec(value) ?? []
  const day = new Date(`${date}T00:00:00Z`)
  // Date parsing accepts 30 February as 2 March.
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
  const time = new Date(value.toUpperCase())
  if (date !== '' && isDay && !Number.isNaN(time.getTime())) return time
  throw validationFailed(`The signed message has no valid time (RFC 3339) in "${field}"`)
}
