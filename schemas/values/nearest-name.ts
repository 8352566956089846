import { distance } from 'fastest-levenshtein'

/**
 * The known name that was probably meant: the one with the smallest edit distance, if that is at most `maxEdits`.
 * Upper and lower case are the same.
 */
export function nearestName(
  name: string,
  known: Iterable<string>,
  maxEdits = Math.max(2, Math.floor(name.length / 4)),
): string | undefined {
  const written = name.toLowerCase()
  let nearest: string | undefined
  let least = maxEdits + 1
  for (const each of known) {
    // So many edits at least.
    if (Math.abs(each.length - name.length) >= least) continue
    const edits = distance(written, each.toLowerCase())
    if (edits < least) [nearest, least] = [each, edits]
  }
  return nearest
}
