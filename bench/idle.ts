/** The cost of idle servers: polling, timers and background work. */
import { setTimeout as sleep } from 'node:timers/promises'

import { readCost, readMemory, settle, type Variant } from './cost.ts'

/** Figures of one variant; NaN when not readable. */
export interface Idle {
  variant: string
  /** Milliseconds of processor time in a minute. */
  serverCpu: number
  /** The same for its Postgres, including work of the run's other variants there. */
  postgresCpu: number
  residentMib: number
}

const minuteMs = 60_000

/** A minute of all variants concurrently, once each has settled. */
export async function measureIdle(variants: Variant[]): Promise<Idle[]> {
  await Promise.all(variants.map(settle))
  const before = variants.map(readCost)
  await sleep(minuteMs)
  return variants.map((variant, index) => {
    const { server, postgres } = readCost(variant)
    return {
      variant: variant.target.name,
      serverCpu: server - (before[index]?.server ?? Number.NaN),
      postgresCpu: postgres - (before[index]?.postgres ?? Number.NaN),
      residentMib: readMemory(variant),
    }
  })
}
