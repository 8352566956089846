/**
 * A discrete-event simulation of servers and Postgres: requests queue for a thread, then for a processor core. It is fed
 * by measured processor times.
 */
import { quantile } from '../statistics.ts'
import { acquire, type Clock, createClock, type Resource, release, resource } from './resources.ts'

/** What one request costs on average, in milliseconds. */
export interface Demand {
  /** Processor time of the load generator; only matters where it shares the machine. */
  generator: number
  /** Processor time of the server's event loop. */
  server: number
  /** Processor time of password hashes, on threads of the server with low priority. */
  hash: number
  /** Processor time of Postgres. */
  postgres: number
  /** Waiting that uses no processor: the disk and the network. */
  wait: number
}

export interface Setup {
  replicas: number
  /** Cores of each machine. Without `postgresCores`, everything shares `cores`, the load generator as well. */
  cores: number
  postgresCores?: number
  /** Connections of all servers to Postgres. */
  pool: number
  /** Clients that send the next request after the response, or arrivals at random times. */
  load: { clients: number } | { perSecond: number }
  seconds: number
}

export interface Prediction {
  perSecond: number
  p50: number
  p99: number
  /** Busy share of each resource, from 0 to 1; the greatest is the bottleneck. */
  busy: Record<string, number>
}

interface Stage {
  thread: Resource
  cores: Resource
  ms: number
  isLow?: boolean
}

/** A hash gives its core to other work after this long, as the scheduler of the kernel does. */
const sliceMs = 1

/** `requests` are equally likely; one that is more frequent occurs several times. */
export function simulate(
  requests: readonly Demand[],
  setup: Setup,
  random: () => number = Math.random,
): Prediction {
  const clock = createClock()
  const parts = createParts(setup)
  const latencies: number[] = []
  const end = setup.seconds * 1000
  const warmUp = end * 0.1

  const send = (index: number, done: () => void) => {
    const sentAt = clock.now()
    runStages(clock, stagesOf(pick(requests, random()), parts, index, random), () => {
      if (sentAt >= warmUp) latencies.push(clock.now() - sentAt)
      done()
    })
  }
  if ('clients' in setup.load) {
    for (let i = 0; i < setup.load.clients; i++) {
      const again = () => send(i, again)
      again()
    }
  } else arriveAtRandom(clock, setup.load.perSecond, random, (i) => send(i, () => {}))
  clock.runUntil(end)

  const sorted = latencies.toSorted((a, b) => a - b)
  const all = [...parts.loops, ...parts.machines, parts.connections]
  return {
    perSecond: latencies.length / ((end - warmUp) / 1000),
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    busy: Object.fromEntries(all.map((part) => [part.name, part.busyMs / end / part.capacity])),
  }
}

function createParts({ replicas, cores, postgresCores, pool }: Setup) {
  const isOneMachine = postgresCores === undefined
  const one = resource('cores', cores)
  const machineOf = (i: number) => (isOneMachine ? one : resource(`cores of server ${i}`, cores))
  const servers = Array.from({ length: replicas }, (_, i) => ({
    loop: resource(`event loop ${i}`, 1),
    machine: machineOf(i),
  }))
  const postgres = isOneMachine ? one : resource('cores of Postgres', postgresCores)
  return {
    servers,
    loops: servers.map(({ loop }) => loop),
    machines: [...new Set([...servers.map(({ machine }) => machine), postgres])],
    postgres,
    connections: resource('connections', pool),
    unlimited: resource('unlimited', Number.POSITIVE_INFINITY),
    generator: resource('generator', isOneMachine ? 1 : Number.POSITIVE_INFINITY),
    generatorMachine: isOneMachine ? one : resource('clients', Number.POSITIVE_INFINITY),
  }
}

type Parts = ReturnType<typeof createParts>

/** The loop before and after the database; times are exponentially distributed, except for hashes. */
function stagesOf(demand: Demand, parts: Parts, index: number, random: () => number): Stage[] {
  const server = parts.servers[index % parts.servers.length]
  if (!server) return []
  const about = (ms: number) => -Math.log(1 - random()) * ms
  const { loop, machine } = server
  const half = demand.server / 2
  const slices = Math.round(demand.hash / sliceMs)
  const hash = { thread: parts.unlimited, cores: machine, ms: sliceMs, isLow: true }
  const waiting = { thread: parts.connections, cores: parts.unlimited, ms: demand.wait }
  return [
    { thread: parts.generator, cores: parts.generatorMachine, ms: about(demand.generator) },
    { thread: loop, cores: machine, ms: about(half) },
    ...Array.from({ length: slices }, () => hash),
    { thread: parts.connections, cores: parts.postgres, ms: about(demand.postgres) },
    ...(demand.wait > 0 ? [waiting] : []),
    { thread: loop, cores: machine, ms: about(half) },
  ]
}

function pick(requests: readonly Demand[], at: number): Demand {
  const demand = requests[Math.floor(at * requests.length)]
  if (!demand) throw new Error('there is no request to simulate')
  return demand
}

function runStages(clock: Clock, stages: readonly Stage[], done: () => void): void {
  const [stage, ...rest] = stages
  if (!stage) {
    done()
    return
  }
  const { thread, cores, ms, isLow = false } = stage
  acquire(thread, isLow, () =>
    acquire(cores, isLow, () =>
      clock.after(ms, () => {
        release(cores, ms)
        release(thread, ms)
        runStages(clock, rest, done)
      }),
    ),
  )
}

function arriveAtRandom(
  clock: Clock,
  perSecond: number,
  random: () => number,
  arrive: (i: number) => void,
): void {
  let i = 0
  const next = () => {
    arrive(i++)
    clock.after((-Math.log(1 - random()) * 1000) / perSecond, next)
  }
  next()
}
