/** Demands from measurements with few and with many clients, such that the simulation has the measured rates. */
import { availableParallelism } from 'node:os'

import type { BatchKind } from './batches.ts'
import type { Demand, Setup } from './setup.ts'
import { type Prediction, simulate } from './simulation.ts'

/** Milliseconds of processor time for each request, as accounted by the kernel. */
export interface Measured {
  clients: number
  perSecond: number
  generator: number
  server: number
  postgres: number
}

/** Of each server: bench/own/settings.ts. */
const poolSize = 20

/** Servers, Postgres and the load generator on this machine. */
export function thisMachine(replicas: number, clients: number, hashSlowdown: number): Setup {
  return {
    replicas,
    hashSlowdown,
    cores: availableParallelism(),
    pool: poolSize * replicas,
    load: { clients },
    seconds: 10,
  }
}

/** Rounds until a demand no longer changes. */
const rounds = 8

interface Point extends Measured {
  /** Costs that the accounting omits, such as context switches, are proportional to those it has. */
  factor: number
  batchSize: number
}

/** Requests of this kind cost less when more of them share a message. `wait` is the disk write of a commit. */
export function fitBatched(
  kind: BatchKind,
  wait: number,
  measured: readonly [few: Measured, many: Measured],
): Demand {
  const points = measured.map((one): Point => ({ ...one, factor: 1, batchSize: one.clients / 2 }))
  let demand = between(kind, wait, points)
  for (let round = 0; round < rounds; round++) {
    for (const point of points) {
      const predicted = simulate([demand], thisMachine(1, point.clients, 1))
      point.factor *= correction(predicted, point)
      point.batchSize = predicted.batchSize[kind]
    }
    demand = between(kind, wait, points)
  }
  return demand
}

/** A request that is sent alone. `hash` is the part of its processor time that password hashes take. */
export function fitAlone(wait: number, hash: number, measured: Measured): Demand {
  const { generator, server, postgres } = measured
  const scaleDemand = (factor: number): Demand => ({
    generator: generator * factor,
    server: (server - hash) * factor,
    hash: hash * factor,
    postgres: postgres * factor,
    wait,
  })
  let factor = 1
  for (let round = 0; round < rounds; round++) {
    factor *= correction(
      simulate([scaleDemand(factor)], thisMachine(1, measured.clients, 1)),
      measured,
    )
  }
  return scaleDemand(factor)
}

/** How many times longer other work takes during hashes, such that the mix has the measured rate. */
export function fitHashSlowdown(mix: readonly Demand[], { clients, perSecond }: Measured): number {
  let [low, high] = [1, 3]
  for (let round = 0; round < rounds; round++) {
    const middle = (low + high) / 2
    const predicted = simulate(mix, thisMachine(1, clients, middle))
    if (predicted.perSecond > perSecond) low = middle
    else high = middle
  }
  return (low + high) / 2
}

function correction(predicted: Prediction, measured: Measured): number {
  return predicted.perSecond / measured.perSecond
}

/** A fixed cost of each batch, and one of each request in it. */
function between(kind: BatchKind, wait: number, points: readonly Point[]): Demand {
  const [few, many] = points
  if (!few || !many) throw new Error('there are two measurements')
  const costs = (of: (point: Point) => number) => {
    const share = 1 / few.batchSize - 1 / many.batchSize
    const [fewCost, manyCost] = [of(few) * few.factor, of(many) * many.factor]
    const fixed = Math.max(0, Math.min((fewCost - manyCost) / share, manyCost * many.batchSize))
    return { fixed, each: Math.max(0, manyCost - fixed / many.batchSize) }
  }
  const server = costs((point) => point.server)
  const postgres = costs((point) => point.postgres)
  return {
    generator: (few.generator * few.factor + many.generator * many.factor) / 2,
    server: server.each,
    hash: 0,
    postgres: postgres.each,
    wait,
    batch: { kind, server: server.fixed, postgres: postgres.fixed },
  }
}
