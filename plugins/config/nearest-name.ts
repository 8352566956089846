import { closest, distance } from 'fastest-levenshtein'

/** The name with the fewest single-character edits to the given one, when few enough to be a slip. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const nearest = closest(name, [...known])
  const slip = Math.max(2, Math.floor(name.length / 4))
  return distance(name, nearest) <= slip ? nearest : undefined
}
