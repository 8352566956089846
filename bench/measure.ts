import { describeResponse } from './core/exchange.ts'
import { Rejected } from './core/rejected.ts'
import { isGood, type Load, type Plan, type Scenario } from './core/scenario.ts'
import { type Cost, readCost, readMemory, settle, type Variant } from './cost.ts'
import { type Round, type RoundOptions, runRound } from './load.ts'
import { quantile } from './statistics.ts'

interface Schedule extends Plan {
  /** Measured time of a scenario per variant, spread over the rounds. */
  seconds: number
  rounds: number
}

/** Results of one variant in one scenario; undefined when not readable. */
export interface Figures {
  variant: string
  requests: number
  perSecond: number
  /** Latency of successful responses at the median, p95 and p99, in milliseconds. */
  p50: number
  p95: number
  p99: number
  /** Milliseconds of processor time per successful response, including later work (email). */
  serverCpu: number | undefined
  postgresCpu: number | undefined
  /** 99th percentile of the server's event loop delay in milliseconds. */
  loopDelay: number | undefined
  /** The same for this program. */
  generatorCpu: number
  /** The highest memory at the end of a round, in MiB. */
  residentMib: number | undefined
  errors: Record<string, number>
}

interface Skipped {
  variant: string
  skipped: string
}

export type Result = Figures | Skipped

interface Run {
  variant: Variant
  load: Load
  next: number
  rounds: MeasuredRound[]
}

interface MeasuredRound extends Round {
  cost: Cost
  generator: number
  memory: number
  loopDelay: number
}

/**
 * Runs one scenario on each variant: prepared and warmed up, then in short alternating rounds, so that other load
 * affects all equally. The order changes with each round.
 */
export async function measure(scenario: Scenario, variants: Variant[], schedule: Schedule) {
  const results = new Map<Variant, Result>()
  const runs: Run[] = []
  for (const variant of variants) {
    try {
      runs.push(await prepare(scenario, variant, schedule))
    } catch (error) {
      if (!(error instanceof Rejected)) throw error
      results.set(variant, { variant: variant.target.name, skipped: error.message })
    }
  }
  for (const run of runs) await warmUp(run, schedule)
  for (let round = 0; round < schedule.rounds; round++) {
    for (const run of round % 2 ? runs.toReversed() : runs) await addRound(run, schedule)
  }
  for (const run of runs) results.set(run.variant, computeFigures(run))
  return variants.flatMap((variant) => results.get(variant) ?? [])
}

/** Also sends the first request, to detect a server that rejects it. */
async function prepare(scenario: Scenario, variant: Variant, schedule: Schedule): Promise<Run> {
  const load = await (variant.scenario ?? scenario).prepare(variant.target, schedule)
  const response = await variant.target.send(load.request(0, 0))
  if (!isGood(load, response)) throw new Rejected(describeResponse(response))
  load.answered?.(response.body, 0)
  return { variant, load, next: 1, rounds: [] }
}

/** As long as the measurement: a server that is still compiling its code is half as fast in its first seconds. */
async function warmUp(run: Run, { connections, seconds }: Schedule): Promise<void> {
  await advance(run, { connections, seconds, limit: Math.floor(left(run) / 5) })
  await settle(run.variant)
  run.variant.loop?.forget()
}

async function addRound(run: Run, { connections, seconds, rounds }: Schedule): Promise<void> {
  const limit = Math.floor(left(run) / (rounds - run.rounds.length))
  const before = readCost(run.variant)
  const own = process.cpuUsage()
  run.variant.loop?.begin()
  const round = await advance(run, { connections, seconds: seconds / rounds, limit })
  const loopDelay = (await run.variant.loop?.end()) ?? Number.NaN
  const { user, system } = process.cpuUsage(own)
  const memory = readMemory(run.variant)
  const after = await settle(run.variant)
  const cost = { server: after.server - before.server, postgres: after.postgres - before.postgres }
  run.rounds.push({ ...round, cost, generator: (user + system) / 1000, memory, loopDelay })
}

async function advance(run: Run, options: Omit<RoundOptions, 'first'>): Promise<Round> {
  const round = await runRound(run.variant.target, run.load, { ...options, first: run.next })
  run.next = round.next
  return round
}

/** The remaining number of requests of the scenario. */
function left({ load, next }: Run): number {
  return (load.stock ?? Number.POSITIVE_INFINITY) - next
}

function computeFigures({ variant, rounds }: Run): Figures {
  const latencies = rounds.flatMap((round) => round.latencies).sort((a, b) => a - b)
  const requests = latencies.length
  const sum = (value: (round: MeasuredRound) => number) =>
    rounds.reduce((total, round) => total + value(round), 0)
  return {
    variant: variant.target.name,
    requests,
    perSecond: requests / sum((round) => round.seconds),
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
    p99: quantile(latencies, 0.99),
    serverCpu: seen(sum((round) => round.cost.server) / requests),
    postgresCpu: seen(sum((round) => round.cost.postgres) / requests),
    loopDelay: seen(rounds.at(-1)?.loopDelay ?? Number.NaN),
    generatorCpu: sum((round) => round.generator) / requests,
    residentMib: seen(Math.max(...rounds.map((round) => round.memory))),
    errors: sumCounts(rounds.map((round) => round.errors)),
  }
}

function seen(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

function sumCounts(counts: Map<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {}
  for (const [kind, n] of counts.flatMap((count) => [...count])) sum[kind] = (sum[kind] ?? 0) + n
  return sum
}
