import { setTimeout as sleep } from 'node:timers/promises'

import type { LoopProbe } from './own/loop-probe.ts'
import { type Usage, usageOf } from './process-tree.ts'
import type { Scenario } from './scenario.ts'
import type { Target } from './target.ts'

/** A server under measurement and the processes whose cost is read; none where they are out of sight. */
export interface Side {
  target: Target
  serverPids: readonly number[]
  postgresPid: number | undefined
  /** Absent for servers that this program did not start. */
  loop?: LoopProbe | undefined
  /** What is asked of it in place of every scenario. */
  scenario?: Scenario
}

/** Processor time so far, in milliseconds; NaN when out of sight. */
export interface Cost {
  server: number
  postgres: number
}

export function costOf({ serverPids, postgresPid }: Side): Cost {
  return {
    server: sumOf(serverPids, 'cpuMs'),
    postgres: usageOf(postgresPid)?.cpuMs ?? Number.NaN,
  }
}

/** MiB the server holds now; NaN when out of sight. */
export function memoryOf({ serverPids }: Side): number {
  return sumOf(serverPids, 'residentMib')
}

function sumOf(pids: readonly number[], what: keyof Usage): number {
  if (pids.length === 0) return Number.NaN
  return pids.reduce((sum, pid) => sum + (usageOf(pid)?.[what] ?? Number.NaN), 0)
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
