/** Measures the demands of the simulation, and what it predicts, on this machine. */
import { availableParallelism } from 'node:os'
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
import { type Demand, simulate } from './simulation.ts'

/** Of each server: bench/own/settings.ts. */
export const poolSize = 20

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

/** Numbers of clients with which the demands are measured. */
const few = 4
const many = 32

export type Demands = Record<RequestType, Demand>
/** A request costs less when more are waiting: look-ups share a statement, and changes a commit. */
export type MeasuredDemands = Record<'few' | 'many', Demands>

export async function measureDemands(side: Side): Promise<MeasuredDemands> {
  return { few: await measureAt(side, few), many: await measureAt(side, many) }
}

/** Between the two measurements, a request has a fixed cost and a share of a batch. */
export function demandsAt({ few: costly, many: cheap }: MeasuredDemands, clients: number): Demands {
  const share = (1 / clients - 1 / many) / (1 / few - 1 / many)
  const between = (type: RequestType, part: keyof Demand) =>
    cheap[type][part] + share * (costly[type][part] - cheap[type][part])
  const demandOf = (type: RequestType): Demand => ({
    generator: between(type, 'generator'),
    server: between(type, 'server'),
    hash: between(type, 'hash'),
    postgres: between(type, 'postgres'),
    wait: between(type, 'wait'),
  })
  return { read: demandOf('read'), refresh: demandOf('refresh'), signIn: demandOf('signIn') }
}

/**
 * Processor times, scaled so that the simulation of that load has the measured rate: accounting misses what switching
 * between processes costs. The hash is what a sign-in costs the server more than a refresh, which creates the same
 * tokens.
 */
async function measureAt(side: Side, clients: number): Promise<Demands> {
  const [read, refreshed, signedIn] = [
    await figuresOf(scenarios.read, side, clients),
    await figuresOf(scenarios.refresh, side, clients),
    await figuresOf(scenarios.signIn, side, clients),
  ]
  const hash = Math.max((signedIn.serverCpu ?? 0) - (refreshed.serverCpu ?? 0), 0)
  return {
    read: calibrated(read, clients, 0),
    refresh: calibrated(refreshed, clients, 0),
    signIn: calibrated(signedIn, clients, hash),
  }
}

function calibrated(figures: Figures, clients: number, hash: number): Demand {
  const { generatorCpu: generator, serverCpu = 0, postgresCpu: postgres = 0 } = figures
  const demand = { generator, server: serverCpu - hash, hash, postgres, wait: 0 }
  const { perSecond } = simulate([demand], {
    replicas: 1,
    cores: availableParallelism(),
    pool: poolSize,
    load: { clients },
    seconds: 20,
  })
  const factor = perSecond / figures.perSecond
  const scaled = (ms: number) => ms * factor
  return {
    generator: scaled(generator),
    server: scaled(demand.server),
    hash: scaled(hash),
    postgres: scaled(postgres),
    wait: 0,
  }
}
