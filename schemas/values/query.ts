/** Query strings with arbitrary names. */
import { type Static, Type } from '@sinclair/typebox'

export const ManyQuery = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Array(Type.String())]),
)

/** Of a repeated parameter the first value counts. */
export function firstValues(query: Static<typeof ManyQuery>): Record<string, string> {
  const entries = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : (value[0] ?? ''),
  ])
  return Object.fromEntries(entries)
}
