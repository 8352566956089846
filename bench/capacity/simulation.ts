/**
 * A discrete-event simulation of servers and Postgres: requests queue for a thread, then for a processor core, and share
 * messages to Postgres as those of the server do. Its input is measured processor times.
 */
import { maxGroupMs } from '../../plugins/database/driver/index.ts'
import { quantile } from '../statistics.ts'
import { pick, scheduleArrivals } from './arrivals.ts'
import { type Batches, type BatchKind, batchLimits, createBatches } from './batches.ts'
import {
  acquire,
  type Clock,
  createClock,
  lowSliceMs,
  release,
  runStages,
  type Stage,
} from './resources.ts'
import { createParts, type Demand, type Parts, type Server, type Setup } from './setup.ts'

export interface Prediction {
  perSecond: number
  p50: number
  p99: number
  /** Busy share of each resource, from 0 to 1; the greatest is the bottleneck. */
  busy: Record<string, number>
  /** Requests in a message to Postgres, on average; NaN without any. */
  batchSize: Record<BatchKind, number>
}

interface Simulation {
  clock: Clock
  parts: Parts
  random: () => number
  /** Of each server and kind, made when it is first needed. */
  batches: Map<string, Batches>
}

/** `requests` are equally likely; one that is more frequent occurs several times. */
export function simulate(requests: readonly Demand[], setup: Setup): Prediction {
  const { random } = Math
  const clock = createClock()
  const parts = createParts(setup)
  const simulation: Simulation = { clock, parts, random, batches: new Map() }
  const latencies: number[] = []
  const end = setup.seconds * 1000
  const warmUp = end * 0.1

  const send = (index: number, done: () => void) => {
    const sentAt = clock.now()
    runRequest(simulation, pick(requests, random()), index, () => {
      if (sentAt >= warmUp) latencies.push(clock.now() - sentAt)
      done()
    })
  }
  if ('clients' in setup.load) {
    for (let i = 0; i < setup.load.clients; i++) {
      const again = () => send(i, again)
      again()
    }
  } else scheduleArrivals(clock, setup.load.perSecond, random, (i) => send(i, () => {}))
  clock.runUntil(end)

  const sorted = latencies.toSorted((a, b) => a - b)
  const all = [...parts.loops, ...parts.machines, parts.connections]
  return {
    perSecond: latencies.length / ((end - warmUp) / 1000),
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    busy: Object.fromEntries(all.map((part) => [part.name, part.busyMs / end / part.capacity])),
    batchSize: {
      lookup: averageSize(simulation, 'lookup'),
      commit: averageSize(simulation, 'commit'),
    },
  }
}

/** The loop before and after the database; times are exponentially distributed, except for hashes and batches. */
function runRequest(
  simulation: Simulation,
  requested: Demand,
  index: number,
  done: () => void,
): void {
  const { clock, parts, random } = simulation
  const position = index % parts.servers.length
  const server = parts.servers[position]
  if (!server) return
  const demand = isFar(server) ? withoutCommits(requested) : requested
  const about = (ms: number) => -Math.log(1 - random()) * ms
  const { loop, machine } = server
  const half = (): Stage => ({ thread: loop, cores: machine, ms: about(demand.server / 2) })
  const before = [
    { thread: parts.generator, cores: parts.generatorMachine, ms: about(demand.generator) },
    half(),
  ]
  const after = () => runStages(clock, [half()], done)
  const send = () => {
    if (demand.batch) startBatches(simulation, demand, position, server).join(after)
    else query(simulation, server, about(demand.postgres), demand.wait, after)
  }
  runStages(clock, before, () => {
    if (demand.hash > 0) computeHash(simulation, server, demand.hash, send)
    else send()
  })
}

/** Of low priority: other work on the machine goes first. */
function computeHash(
  { clock, parts }: Simulation,
  { hashes, machine }: Server,
  ms: number,
  done: () => void,
): void {
  const slice = { thread: parts.unlimited, cores: machine, ms: lowSliceMs, isLow: true }
  acquire(hashes, false, () => {
    const slices = Array.from({ length: Math.round(ms / lowSliceMs) }, () => slice)
    runStages(clock, slices, () => {
      release(hashes, ms)
      done()
    })
  })
}

/** Like plugins/database/driver/backoff.ts: changes that take longer are sent separately. */
const isFar = ({ roundTripMs }: Server): boolean => roundTripMs > maxGroupMs

function withoutCommits(demand: Demand): Demand {
  const { batch, ...alone } = demand
  if (batch?.kind !== 'commit') return demand
  return {
    ...alone,
    server: alone.server + batch.server,
    postgres: alone.postgres + batch.postgres,
  }
}

/** Holds a connection for the time of a core, and for waiting. */
function query(
  { clock, parts }: Simulation,
  { roundTripMs }: Server,
  ms: number,
  wait: number,
  done: () => void,
): void {
  const { connections, postgres, unlimited } = parts
  acquire(connections, false, () => {
    const stages = [
      { thread: unlimited, cores: postgres, ms },
      { thread: unlimited, cores: unlimited, ms: wait + roundTripMs },
    ]
    runStages(clock, stages, () => {
      release(connections, ms + wait + roundTripMs)
      done()
    })
  })
}

/** All requests of one kind have the same demand. */
function startBatches(
  simulation: Simulation,
  { batch, postgres, wait }: Demand,
  position: number,
  server: Server,
): Batches {
  if (!batch) throw new Error('the request is not batched')
  const key = `${batch.kind} ${position}`
  const known = simulation.batches.get(key)
  if (known) return known
  const dispatch = { thread: server.loop, cores: server.machine, ms: batch.server }
  const created = createBatches(
    simulation.clock,
    batchLimits[batch.kind],
    (then) => runStages(simulation.clock, [dispatch], then),
    (size, done) => query(simulation, server, batch.postgres + size * postgres, wait, done),
  )
  simulation.batches.set(key, created)
  return created
}

function averageSize({ batches }: Simulation, kind: BatchKind): number {
  const sizes = [...batches]
    .filter(([key]) => key.startsWith(kind))
    .map(([, one]) => one.averageSize())
  return sizes.reduce((sum, size) => sum + size, 0) / sizes.length
}
