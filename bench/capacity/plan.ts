import type { Demand } from './setup.ts'
import { type Prediction, simulate } from './simulation.ts'

/** No resource is busier than this on average: room for bursts and for the loss of a machine. */
const maxBusy = 0.5
const coresOfServer = 2

interface Plan {
  replicas: number
  postgresCores: number
  p99: number
  /** The busiest resource and its share. */
  busiest: string
}

type BatchSize = Prediction['batchSize']

/** The assumptions of a plan; the simulation corrects the first ones. */
interface Assumptions {
  perSecond: number
  hashSlowdown: number
  batchSize: BatchSize
  /** How many times longer the event loop is busy than alone. */
  slowdown: number
}

/** The machines for random arrivals of these requests, each equally likely. */
export function plan(requests: readonly Demand[], perSecond: number, hashSlowdown: number): Plan {
  let assumed: Assumptions = {
    ...{ perSecond, hashSlowdown, slowdown: 1 },
    batchSize: { lookup: 1, commit: 1 },
  }
  let planned = simulatePlan(requests, assumed)
  for (let i = 0; i < 3; i++) {
    // Fewer machines have larger batches, which cost less, and compute hashes for a larger part of the time.
    const batchSize = { ...assumed.batchSize, ...defined(planned.batchSize) }
    const slowdown = assumed.slowdown * Math.max(1, busiestLoop(planned) / maxBusy)
    assumed = { ...assumed, batchSize, slowdown }
    planned = simulatePlan(requests, assumed)
  }
  const { replicas, postgresCores, p99, busy } = planned
  const [[name = '', share = 0] = []] = Object.entries(busy).toSorted(([, a], [, b]) => b - a)
  return { replicas, postgresCores, p99, busiest: `${name}, ${Math.round(share * 100)} %` }
}

const busiestLoop = ({ busy }: Prediction): number =>
  Math.max(...Object.entries(busy).map(([name, share]) => (/^event loop/.test(name) ? share : 0)))

function simulatePlan(
  requests: readonly Demand[],
  { perSecond, hashSlowdown, batchSize, slowdown }: Assumptions,
) {
  const average = (of: (demand: Demand) => number) =>
    requests.reduce((sum, demand) => sum + of(demand), 0) / requests.length
  const shared = ({ batch }: Demand, part: 'server' | 'postgres') =>
    batch ? batch[part] / batchSize[batch.kind] : 0
  const needed = (ms: number, perMachine: number) =>
    Math.max(Math.ceil((perSecond * ms) / 1000 / maxBusy / perMachine), 1)
  const loop = average((demand) => demand.server + shared(demand, 'server'))
  const hashing = average(({ hash }) => hash)
  const replicas = Math.max(needed(loop * slowdown, 1), needed(loop + hashing, coresOfServer))
  const postgresCores = needed(
    average((demand) => demand.postgres + shared(demand, 'postgres')),
    1,
  )
  const prediction = simulate(requests, {
    replicas,
    cores: coresOfServer,
    postgresCores,
    hashSlowdown,
    pool: Math.max(postgresCores * 4, 20),
    load: { perSecond },
    seconds: Math.max(100_000 / perSecond, 2),
  })
  return { ...prediction, replicas, postgresCores }
}

/** Without those of kinds that no request has. */
function defined(sizes: BatchSize): Partial<BatchSize> {
  return Object.fromEntries(Object.entries(sizes).filter(([, size]) => Number.isFinite(size)))
}
