/** The input of a simulation: requests, machines and resources. */
import type { BatchKind } from './batches.ts'
import { type Resource, resource } from './resources.ts'

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
  /** Waiting for the disk, with a connection to Postgres and without processor time. */
  wait: number
  /** Requests of this kind share a message to Postgres, which costs this once, and waits once. */
  batch?: { kind: BatchKind; server: number; postgres: number }
}

export interface Setup {
  replicas: number
  /** Cores of each machine. Without `postgresCores`, everything shares `cores`, the load generator as well. */
  cores: number
  postgresCores?: number
  /** How many times longer other work takes while the same machine computes hashes. */
  hashSlowdown: number
  /** Connections of all servers to Postgres. */
  pool: number
  /** The replicas are spread over this many regions; the primary is in the first. The time is between any two. */
  regions?: { count: number; roundTripMs: number }
  /** Clients that send the next request after the response, or arrivals at random times. */
  load: { clients: number } | { perSecond: number }
  seconds: number
}

export interface Server {
  loop: Resource
  machine: Resource
  /** Hashes that are computed at the same time. */
  hashes: Resource
  /** Milliseconds to the primary and back. */
  roundTripMs: number
}

export type Parts = ReturnType<typeof createParts>

export function createParts(setup: Setup) {
  const { replicas, cores, postgresCores, hashSlowdown, pool, regions } = setup
  const isOneMachine = postgresCores === undefined
  const one = resource('cores', cores, hashSlowdown)
  const getMachine = (i: number) =>
    isOneMachine ? one : resource(`cores of server ${i}`, cores, hashSlowdown)
  const servers = Array.from(
    { length: replicas },
    (_, i): Server => ({
      loop: resource(`event loop ${i}`, 1),
      machine: getMachine(i),
      hashes: resource(`hashes of server ${i}`, cores),
      roundTripMs: regions && i % regions.count > 0 ? regions.roundTripMs : 0,
    }),
  )
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
