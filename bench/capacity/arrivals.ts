/** Generates the arrivals of requests in a simulation. */
import type { Clock } from './resources.ts'
import type { Demand } from './setup.ts'

/** Each of the requests is equally likely. */
export function pick(requests: readonly Demand[], at: number): Demand {
  const demand = requests[Math.floor(at * requests.length)]
  if (!demand) throw new Error('there is no request to simulate')
  return demand
}

/** Arrivals with exponentially distributed intervals. */
export function scheduleArrivals(
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
