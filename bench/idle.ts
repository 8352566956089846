/** The cost of idle servers: polling, timers and background work. */
import { setTimeout as sleep } from 'node:timers/promises'

import { readCost, readMemory, type Side, settle } from './cost.ts'

/** Figures of one variant; NaN when not readable. */
export interface Idle {
  side: string
  /** Milliseconds of processor time in a minute. */
  serverCpu: number
  /** The same for its Postgres, including work of the run's other variants there. */
  postgresCpu: number
  residentMib: number
}

const minuteMs = 60_000

/** A minute of all variants concurrently, once each has settled. */
export async function measureIdle(sides: Side[]): Promise<Idle[]> {
  await Promise.all(sides.map(settle))
  const before = sides.map(readCost)
  await sleep(minuteMs)
  return sides.map((side, index) => {
    const { server, postgres } = readCost(side)
    return {
      side: side.target.name,
      serverCpu: server - (before[index]?.server ?? Number.NaN),
      postgresCpu: postgres - (before[index]?.postgres ?? Number.NaN),
      residentMib: readMemory(side),
    }
  })
}
