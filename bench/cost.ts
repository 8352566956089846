import { setTimeout as sleep } from 'node:timers/promises'

import { usageOf } from './process-tree.ts'
import type { Target } from './target.ts'

/** A server under measurement and the processes whose cost is read; undefined where they are out of sight. */
export interface Side {
  target: Target
  serverPid: number | undefined
  postgresPid: number | undefined
}

/** Processor time so far, in milliseconds; NaN when out of sight. */
export interface Cost {
  server: number
  postgres: number
}

export function costOf({ serverPid, postgresPid }: Side): Cost {
  return {
    server: usageOf(serverPid)?.cpuMs ?? Number.NaN,
    postgres: usageOf(postgresPid)?.cpuMs ?? Number.NaN,
  }
}

/** MiB the server holds now; NaN when out of sight. */
export function memoryOf({ serverPid }: Side): number {
  return usageOf(serverPid)?.residentMib ?? Number.NaN
}

const stepMs = 250
const mostSteps = 40
// Two ticks of the process clock: what timers and heartbeats use in a step.
const restMs = 20

/**
 * Waits until server and database rest, at most ten seconds, and returns the cost by then: a mail
 * that a request queued is part of its cost, and must not burden the other side's round.
 * Returns at once when both are out of sight.
 */
export async function settle(side: Side): Promise<Cost> {
  let cost = costOf(side)
  if (Number.isNaN(cost.server) && Number.isNaN(cost.postgres)) return cost
  for (let step = 0; step < mostSteps; step++) {
    await sleep(stepMs)
    const now = costOf(side)
    const busy = [now.server - cost.server, now.postgres - cost.postgres].some((ms) => ms > restMs)
    cost = now
    if (!busy) break
  }
  return cost
}
