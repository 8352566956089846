import { closest, distance } from 'fastest-levenshtein'

/** The known name with the smallest edit distance, if small enough to be a typo. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const nearest = closest(name, [...known])
  const typo = Math.max(2, Math.floor(name.length / 4))
  return distance(name, nearest) <= typo ? nearest : undefined
}
