/** Measures the demands of the simulation, and what it predicts, on this machine. */
import { join } from 'node:path'

import { mintServiceRole } from '../../server/service-role.ts'
import { postmaster } from '../core/listener.ts'
import type { Scenario } from '../core/scenario.ts'
import { createTarget } from '../core/target.ts'
import type { Side } from '../cost.ts'
import { type Figures, measure } from '../measure.ts'
import { type PosternServers, startPostern } from '../own-server.ts'
import { getUser } from '../scenarios/get-user.ts'
import { refresh } from '../scenarios/refresh.ts'
import { signIn } from '../scenarios/sign-in.ts'
import type { Demand } from './simulation.ts'

export const scenarios = { read: getUser, refresh, signIn }
export type RequestType = keyof typeof scenarios

/** Two servers on two databases of one Postgres. */
export function startServers(): Promise<PosternServers> {
  return startPostern({ beside: join(import.meta.dirname, '../..') })
}

export async function sidesOf(own: PosternServers, connections: number): Promise<Side[]> {
  const serviceRole = await mintServiceRole(own.jwtSecret)
  return own.sides.map(({ name, url, databaseUrl, serverPids }) => ({
    target: createTarget({ name, url, connections, serviceRole, databaseUrl }),
    serverPids,
    postgresPid: postmaster(databaseUrl),
  }))
}

/** Throws when the server rejects the scenario. */
export async function figuresOf(
  scenario: Scenario,
  side: Side,
  connections: number,
  seconds = 6,
): Promise<Figures> {
  const plan = { connections, stock: 100_000, seconds, rounds: 2 }
  const [result] = await measure(scenario, [side], plan)
  if (!result || 'skipped' in result) throw new Error(`${scenario.name}: ${result?.skipped}`)
  return result
}

/**
 * Processor times with 16 connections. A single connection shows what else a request waits for: the disk. The hash is
 * what a sign-in costs the server more than a refresh, which creates the same tokens.
 */
export async function measureDemands(side: Side): Promise<Record<RequestType, Demand>> {
  const read = await demandOf(scenarios.read, side)
  const refreshed = await demandOf(scenarios.refresh, side)
  const signedIn = await demandOf(scenarios.signIn, side)
  const hash = Math.max(signedIn.server - refreshed.server, 0)
  return {
    read,
    refresh: refreshed,
    signIn: { ...signedIn, server: signedIn.server - hash, hash, wait: refreshed.wait },
  }
}

async function demandOf(scenario: Scenario, side: Side): Promise<Demand> {
  const one = await figuresOf(scenario, side, 1)
  const {
    generatorCpu: generator,
    serverCpu: server = 0,
    postgresCpu: postgres = 0,
  } = await figuresOf(scenario, side, 16)
  const used = one.generatorCpu + (one.serverCpu ?? 0) + (one.postgresCpu ?? 0)
  return { generator, server, hash: 0, postgres, wait: Math.max(one.p50 - used, 0) }
}
