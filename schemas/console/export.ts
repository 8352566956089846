/** File downloads. */
import type { Readable } from 'node:stream'

import { Type } from '@sinclair/typebox'

import { StringEnum } from '../values/choices.ts'

export const ExportFormat = Type.Optional(
  StringEnum(['csv', 'ndjson'], { description: 'Default csv' }),
)

const types = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const

/** Streamed. */
const Text = Type.Unsafe<Readable>({ type: 'string' })

/** For a route's response schema. */
export const ExportContent = {
  content: {
    'text/csv': { schema: Text },
    'application/x-ndjson': { schema: Text },
  },
}

/** Makes browsers save the response instead of displaying it. */
export function downloadHeaders(name: string, format: keyof typeof types) {
  return {
    'content-type': types[format],
    'content-disposition': `attachment; filename="${name}.${format}"`,
    'x-content-type-options': 'nosniff',
  }
}
