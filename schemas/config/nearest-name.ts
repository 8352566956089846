/** The name with the fewest single-character edits to the given one, when few enough to be a slip. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let fewest = Math.max(2, Math.floor(name.length / 4)) + 1
  for (const candidate of known) {
    const edits = editDistance(name, candidate)
    if (edits < fewest) {
      nearest = candidate
      fewest = edits
    }
  }
  return nearest
}

/** Levenshtein's distance, one row of the table at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, sign] of [...from].entries()) {
    const next = [index + 1]
    for (const [column, other] of [...to].entries()) {
      const kept = (row[column] ?? 0) + (sign === other ? 0 : 1)
      next.push(Math.min(kept, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
