import { describeResponse } from './core/exchange.ts'
import { Rejected } from './core/rejected.ts'
import { isGood, type Load, type Plan, type Scenario } from './core/scenario.ts'
import { type Cost, readCost, readMemory, type Side, settle } from './cost.ts'
import { type Round, type RoundOptions, runRound } from './load.ts'
import { quantile } from './statistics.ts'

export interface Schedule extends Plan {
  /** Measured time of a scenario per variant, spread over the rounds. */
  seconds: number
  rounds: number
}

/** Results of one variant in one scenario; undefined when not readable. */
export interface Figures {
  side: string
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

export interface Skipped {
  side: string
  skipped: string
}

export type Result = Figures | Skipped

interface Run {
  side: Side
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
 * affects all alike. The order changes with each round.
 */
export async function measure(scenario: Scenario, sides: Side[], schedule: Schedule) {
  const results = new Map<Side, Result>()
  const runs: Run[] = []
  for (const side of sides) {
    try {
      runs.push(await prepare(scenario, side, schedule))
    } catch (error) {
      if (!(error instanceof Rejected)) throw error
      results.set(side, { side: side.target.name, skipped: error.message })
    }
  }
  for (const run of runs) await warmUp(run, schedule)
  for (let round = 0; round < schedule.rounds; round++) {
    for (const run of round % 2 ? runs.toReversed() : runs) await addRound(run, schedule)
  }
  for (const run of runs) results.set(run.side, computeFigures(run))
  return sides.flatMap((side) => results.get(side) ?? [])
}

/** Also sends the first request, to detect a server that rejects it. */
async function prepare(scenario: Scenario, side: Side, schedule: Schedule): Promise<Run> {
  const load = await (side.scenario ?? scenario).prepare(side.target, schedule)
  const response = await side.target.send(load.request(0, 0))
  if (!isGood(load, response)) throw new Rejected(describeResponse(response))
  load.answered?.(response.body, 0)
  return { side, load, next: 1, rounds: [] }
}

/** As long as the measurement: a server that is still compiling its code is half as fast in its first seconds. */
async function warmUp(run: Run, { connections, seconds }: Schedule): Promise<void> {
  await advance(run, { connections, seconds, limit: Math.floor(left(run) / 5) })
  await settle(run.side)
  run.side.loop?.forget()
}

async function addRound(run: Run, { connections, seconds, rounds }: Schedule): Promise<void> {
  const limit = Math.floor(left(run) / (rounds - run.rounds.length))
  const before = readCost(run.side)
  const own = process.cpuUsage()
  run.side.loop?.begin()
  const round = await advance(run, { connections, seconds: seconds / rounds, limit })
  const loopDelay = (await run.side.loop?.end()) ?? Number.NaN
  const { user, system } = process.cpuUsage(own)
  const memory = readMemory(run.side)
  const after = await settle(run.side)
  const cost = { server: after.server - before.server, postgres: after.postgres - before.postgres }
  run.rounds.push({ ...round, cost, generator: (user + system) / 1000, memory, loopDelay })
}

async function advance(run: Run, options: Omit<RoundOptions, 'first'>): Promise<Round> {
  const round = await runRound(run.side.target, run.load, { ...options, first: run.next })
  run.next = round.next
  return round
}

/** The remaining number of requests of the scenario. */
function left({ load, next }: Run): number {
  return (load.stock ?? Number.POSITIVE_INFINITY) - next
}

function computeFigures({ side, rounds }: Run): Figures {
  const latencies = rounds.flatMap((round) => round.latencies).sort((a, b) => a - b)
  const requests = latencies.length
  const sum = (value: (round: MeasuredRound) => number) =>
    rounds.reduce((total, round) => total + value(round), 0)
  return {
    side: side.target.name,
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
