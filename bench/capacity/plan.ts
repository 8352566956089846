import { type Demand, simulate } from './simulation.ts'

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

/** The machines for random arrivals of these requests, each equally likely. */
export function plan(requests: readonly Demand[], perSecond: number): Plan {
  const average = (of: (demand: Demand) => number) =>
    requests.reduce((sum, demand) => sum + of(demand), 0) / requests.length
  const needed = (ms: number, perMachine: number) =>
    Math.max(Math.ceil((perSecond * ms) / 1000 / maxBusy / perMachine), 1)
  const loops = needed(
    average(({ server }) => server),
    1,
  )
  const cores = needed(
    average(({ server, hash }) => server + hash),
    coresOfServer,
  )
  const replicas = Math.max(loops, cores)
  const postgresCores = needed(
    average(({ postgres }) => postgres),
    1,
  )
  const { p99, busy } = simulate(requests, {
    replicas,
    cores: coresOfServer,
    postgresCores,
    pool: Math.max(postgresCores * 4, 20),
    load: { perSecond },
    seconds: Math.max(100_000 / perSecond, 2),
  })
  const [[name = '', share = 0] = []] = Object.entries(busy).toSorted(([, a], [, b]) => b - a)
  return { replicas, postgresCores, p99, busiest: `${name}, ${Math.round(share * 100)} %` }
}
