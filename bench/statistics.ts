/** The value below which this share (0 to 1) of the sorted values lies: nearest rank. NaN for none. */
export function quantile(sorted: number[], share: number): number {
  const rank = Math.max(Math.ceil(share * sorted.length), 1)
  return sorted[rank - 1] ?? Number.NaN
}

export function median(values: number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}

interface Comparison {
  /** Share of pairs in which the value of the first sample is the greater one; equal values count half. */
  greater: number
  /** Standard deviation of that share when both samples have one distribution. */
  deviation: number
}

/** Compares each value of the first sample with each of the second. */
export function comparePairs(first: number[], second: number[]): Comparison {
  const pairs = first.length * second.length
  const count = first.reduce(
    (sum, a) => sum + second.reduce((more, b) => more + (a > b ? 1 : a === b ? 0.5 : 0), 0),
    0,
  )
  return {
    greater: count / pairs,
    deviation: Math.sqrt((first.length + second.length + 1) / (12 * pairs)),
  }
}
