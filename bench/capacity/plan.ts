import type { Demand } from './setup.ts'
import { type Prediction, simulate } from './simulation.ts'

/** No resource is busier than this on average: room for bursts and for the loss of a machine. */
const maxBusy = 0.5
const coresOfServer = 2

export interface Plan {
  replicas: number
  postgresCores: number
  p99: number
  /** The busiest resource and its share. */
  busiest: string
}

type BatchSize = Prediction['batchSize']

/** The machines for random arrivals of these requests, each equally likely. */
export function plan(requests: readonly Demand[], perSecond: number, besideHash: number): Plan {
  const simulateWith = (batchSize: BatchSize) =>
    simulatePlan(requests, { perSecond, besideHash, batchSize })
  let batchSize: BatchSize = { lookup: 1, commit: 1 }
  let planned = simulateWith(batchSize)
  // Fewer machines have larger batches, which cost less.
  for (let i = 0; i < 3; i++) {
    batchSize = { ...batchSize, ...defined(planned.batchSize) }
    planned = simulateWith(batchSize)
  }
  const { replicas, postgresCores, p99, busy } = planned
  const [[name = '', share = 0] = []] = Object.entries(busy).toSorted(([, a], [, b]) => b - a)
  return { replicas, postgresCores, p99, busiest: `${name}, ${Math.round(share * 100)} %` }
}

function simulatePlan(
  requests: readonly Demand[],
  {
    perSecond,
    besideHash,
    batchSize,
  }: { perSecond: number; besideHash: number; batchSize: BatchSize },
) {
  const average = (of: (demand: Demand) => number) =>
    requests.reduce((sum, demand) => sum + of(demand), 0) / requests.length
  const shared = ({ batch }: Demand, part: 'server' | 'postgres') =>
    batch ? batch[part] / batchSize[batch.kind] : 0
  const needed = (ms: number, perMachine: number) =>
    Math.max(Math.ceil((perSecond * ms) / 1000 / maxBusy / perMachine), 1)
  const loop = average((demand) => demand.server + shared(demand, 'server'))
  const hashing = average(({ hash }) => hash)
  const replicas = Math.max(needed(loop, 1), needed(loop + hashing, coresOfServer))
  const postgresCores = needed(
    average((demand) => demand.postgres + shared(demand, 'postgres')),
    1,
  )
  const prediction = simulate(requests, {
    replicas,
    cores: coresOfServer,
    postgresCores,
    besideHash,
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
