/** Query strings in which a parameter may come several times; the first one counts, as in GoTrue. */
import { type Static, type StringOptions, Type } from '@sinclair/typebox'

export const Repeatable = (options: StringOptions = {}) =>
  Type.Union([Type.String(), Type.Array(Type.String())], options)

/** For names that nobody knows beforehand. */
export const ManyQuery = Type.Record(Type.String(), Repeatable())

/** A parameter that came several times counts once, as it came first. */
export function firstValues(query: Static<typeof ManyQuery>): Record<string, string> {
  const entries = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : (value[0] ?? ''),
  ])
  return Object.fromEntries(entries)
}
