/** The times of the buckets in a range. */
import type { Range } from '../../schemas/console/statistics.ts'

const hour = 3600

const shapes: Record<Range, { bucketSeconds: number; count: number }> = {
  '24h': { bucketSeconds: hour, count: 24 },
  '7d': { bucketSeconds: 6 * hour, count: 28 },
  '30d': { bucketSeconds: 24 * hour, count: 30 },
}

export interface Buckets {
  since: Date
  bucketSeconds: number
  /** Start of each bucket, in seconds since the epoch. */
  starts: number[]
}

/** Buckets begin at whole hours and days of UTC; the last one is not complete. */
export function createBuckets(range: Range, now: Date): Buckets {
  const { bucketSeconds, count } = shapes[range]
  const last = Math.floor(now.getTime() / 1000 / bucketSeconds) * bucketSeconds
  const starts = Array.from({ length: count }, (_, i) => last - (count - 1 - i) * bucketSeconds)
  return { since: new Date((starts[0] ?? last) * 1000), bucketSeconds, starts }
}

/** One count for each bucket. */
export function countsIn(
  { starts }: Pick<Buckets, 'starts'>,
  rows: readonly { at: number; count: number }[],
): number[] {
  const byStart = new Map(rows.map(({ at, count }) => [at, count]))
  return starts.map((start) => byStart.get(start) ?? 0)
}
