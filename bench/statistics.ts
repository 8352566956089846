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

export interface Comparison {
  /** Probability that a value of the first sample is above one of the second; 0.5 when they are equal. */
  dominance: number
  /** Probability of ranks this far apart when both samples have one distribution (Mann-Whitney). */
  rankP: number
  /** Largest distance of the two cumulative distributions, 0 to 1 (Kolmogorov-Smirnov). */
  distance: number
  /** Probability of that distance when both samples have one distribution. */
  distanceP: number
}

/**
 * Whether two samples are distinguishable: by their median (Mann-Whitney) or by any trait of their shape
 * (Kolmogorov-Smirnov). Normal and asymptotic approximations, valid from about 50 values per sample.
 */
export function compare(first: number[], second: number[]): Comparison {
  const merged = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ].sort((a, b) => a.value - b.value)
  const { rankSum, distance } = runJourney(merged, first.length, second.length)
  const pairs = first.length * second.length
  const u = rankSum - (first.length * (first.length + 1)) / 2
  const deviation = Math.sqrt((pairs * (first.length + second.length + 1)) / 12)
  const effective = Math.sqrt(pairs / (first.length + second.length))
  return {
    dominance: u / pairs,
    rankP: 2 * normalTail(Math.abs(u - pairs / 2) / deviation),
    distance,
    distanceP: kolmogorovTail((effective + 0.12 + 0.11 / effective) * distance),
  }
}

interface Labelled {
  value: number
  isFirst: boolean
}

/** One pass over the merged sample: rank sum of the first sample, ties at their mean, and the distance. */
function runJourney(merged: Labelled[], firstSize: number, secondSize: number) {
  let seenFirst = 0
  let rankSum = 0
  let distance = 0
  for (let from = 0, to = 0; from < merged.length; from = to) {
    let tiedFirst = 0
    for (to = from; merged[to] && merged[to]?.value === merged[from]?.value; to++) {
      if (merged[to]?.isFirst) tiedFirst++
    }
    rankSum += tiedFirst * ((from + 1 + to) / 2)
    seenFirst += tiedFirst
    const gap = seenFirst / firstSize - (to - seenFirst) / secondSize
    distance = Math.max(distance, Math.abs(gap))
  }
  return { rankSum, distance }
}

/** Upper tail of the standard normal, from z >= 0; Abramowitz and Stegun 26.2.17, error below 1e-7. */
function normalTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z)
  const factors = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429]
  const sum = factors.reduceRight((value, factor) => (value + factor) * t, 0)
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * sum
}

/** Upper tail of the Kolmogorov distribution. */
function kolmogorovTail(lambda: number): number {
  // The series is inaccurate below this, and the tail is 1 there to ten digits.
  if (lambda < 0.3) return 1
  let sum = 0
  for (let k = 1; k <= 100; k++) sum += 2 * (-1) ** (k - 1) * Math.exp(-2 * (k * lambda) ** 2)
  return Math.min(Math.max(sum, 0), 1)
}
