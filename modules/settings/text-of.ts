/** Formats a variable's value as in the environment. */
import type { TSchema } from '@sinclair/typebox'

import { formatDuration } from '../../schemas/values/duration.ts'
import { isRecord } from '../../schemas/values/record.ts'

/** Null for a variable without a value. */
export function formatVariable(schema: TSchema, value: unknown): string | null {
  if (value === undefined || value === null) return null
  const type: unknown = schema['x-type']
  if (type === 'duration' && typeof value === 'number') return formatDuration(value)
  if (type === 'rate' && isRecord(value)) return rateText(value)
  if (Array.isArray(value)) return value.map(String).join(',')
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function rateText({ count, seconds }: Record<string, unknown>): string {
  const isHourly = seconds === 3600
  return isHourly ? String(count) : `${count}/${formatDuration(Number(seconds))}`
}
