/**
 * Determines how old the data of a replica is: positions of the primary's log are recorded with their times, and the
 * newest one that the replica has replayed gives its age. An idle primary causes no lag, and clocks of other machines
 * do not matter.
 */

interface Recorded {
  /** The time of the record (`performance.now()`): the position contains every write acknowledged before. */
  at: number
  position: bigint
}

/** Half an hour at the longest interval. Without older ones a replica counts as older than it is. */
const maxRecorded = 1_000

export type Positions = ReturnType<typeof createPositions>

export function createPositions() {
  const recorded: Recorded[] = []
  return {
    record(entry: Recorded): void {
      recorded.push(entry)
      if (recorded.length > maxRecorded) recorded.shift()
    },

    /** A replica that has replayed this position shows every write acknowledged before the returned time. */
    findTime(replayed: bigint): number | undefined {
      return recorded.findLast(({ position }) => position <= replayed)?.at
    },
  }
}

/** Parses a pg_lsn, such as `16/B374D848`; null is before all others. */
export function parsePosition(text: string | null): bigint {
  const [high = '', low = ''] = (text ?? '0/0').split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
