import { setTimeout as sleep } from 'node:timers/promises'

import { readUsage, type Usage } from './core/process-tree.ts'
import type { Scenario } from './core/scenario.ts'
import type { Target } from './core/target.ts'
import type { LoopProbe } from './own/loop-probe.ts'

/** A measured server and the processes whose cost is read; none when they are not readable. */
export interface Variant {
  target: Target
  serverPids: readonly number[]
  postgresPid: number | undefined
  /** Absent for servers that this program did not start. */
  loop?: LoopProbe | undefined
  /** Its request for all scenarios. */
  scenario?: Scenario
}

/** Processor time so far, in milliseconds; NaN when not readable. */
export interface Cost {
  server: number
  postgres: number
}

export function readCost({ serverPids, postgresPid }: Variant): Cost {
  return {
    server: sumUsage(serverPids, 'cpuMs'),
    postgres: readUsage(postgresPid)?.cpuMs ?? Number.NaN,
  }
}

/** Memory of the server in MiB; NaN when not readable. */
export function readMemory({ serverPids }: Variant): number {
  return sumUsage(serverPids, 'residentMib')
}

function sumUsage(pids: readonly number[], what: keyof Usage): number {
  if (pids.length === 0) return Number.NaN
  return pids.reduce((sum, pid) => sum + (readUsage(pid)?.[what] ?? Number.NaN), 0)
}

const stepMs = 250
const maxSteps = 40
// Two ticks of the process clock: what timers and heartbeats use in a step.
const restMs = 20

/**
 * Waits until server and database are idle, at most ten seconds, and returns the cost until then: an email queued by a
 * request is part of its cost and must not count for the next variant. Returns immediately when neither is readable.
 */
export async function settle(variant: Variant): Promise<Cost> {
  let cost = readCost(variant)
  if (Number.isNaN(cost.server) && Number.isNaN(cost.postgres)) return cost
  for (let step = 0; step < maxSteps; step++) {
    await sleep(stepMs)
    const now = readCost(variant)
    const busy = [now.server - cost.server, now.postgres - cost.postgres].some((ms) => ms > restMs)
    cost = now
    if (!busy) break
  }
  return cost
}
