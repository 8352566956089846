/** Measures loads in rounds, alternating where there are several. */
import type { Load } from './core/scenario.ts'
import { type Cost, settle, type Variant } from './cost.ts'
import { type Round, runRound } from './load.ts'
import { median, quantile } from './statistics.ts'

export interface Figures {
  perSecond: number
  p50: number
  p99: number
  errors: number
  /** Milliseconds of processor time of server and Postgres per successful response. */
  cpu: number
}

interface TurnSchedule {
  variant: Variant
  load: Load
  connections: number
  /** Of each round. */
  seconds: number
}

/** The medians of several alternating rounds after a warm-up, because the machine’s speed changes within minutes. */
export async function measureRounds(
  courses: { few: TurnSchedule; many: TurnSchedule },
  rounds: number,
) {
  const few = await warmedUp(courses.few)
  const many = await warmedUp(courses.many)
  for (let i = 0; i < rounds; i++) {
    await few.round()
    await many.round()
  }
  return { few: few.figures(), many: many.figures() }
}

/** Prepared for measurement by an uncounted round. */
export async function warmedUp({ variant, load, connections, seconds }: TurnSchedule) {
  const options = { connections, seconds, limit: Number.POSITIVE_INFINITY }
  let { next } = await runRound(variant.target, load, { ...options, first: 0 })
  const seen: Figures[] = []
  const middle = (of: (figures: Figures) => number) => median(seen.map(of))
  return {
    async round() {
      const before = await settle(variant)
      const round = await runRound(variant.target, load, { ...options, first: next })
      next = round.next
      seen.push(computeFigures(round, sumCost(await settle(variant)) - sumCost(before)))
    },
    figures: (): Figures => ({
      perSecond: middle((figures) => figures.perSecond),
      p50: middle((figures) => figures.p50),
      p99: middle((figures) => figures.p99),
      cpu: middle((figures) => figures.cpu),
      errors: seen.reduce((sum, { errors }) => sum + errors, 0),
    }),
  }
}

function sumCost({ server, postgres }: Cost): number {
  return server + postgres
}

function computeFigures({ latencies, errors, seconds }: Round, cpuMs: number): Figures {
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    perSecond: latencies.length / seconds,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    errors: countErrors(errors),
    cpu: cpuMs / latencies.length,
  }
}

export function countErrors(errors: Round['errors']): number {
  return [...errors.values()].reduce((sum, count) => sum + count, 0)
}
