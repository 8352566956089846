/** Measures on this machine the loads that the demands are fitted to, and those that the simulation predicts. */
import { join } from 'node:path'

import { mintServiceRole } from '../../server/service-role.ts'
import { withClient } from '../../server/with-client.ts'
import { postmaster } from '../core/listener.ts'
import type { Load, Scenario } from '../core/scenario.ts'
import { createTarget } from '../core/target.ts'
import type { Variant } from '../cost.ts'
import { runRound } from '../load.ts'
import { measure } from '../measure.ts'
import { type PosternServers, startPostern } from '../own-server.ts'
import { getUser } from '../scenarios/get-user.ts'
import { refresh } from '../scenarios/refresh.ts'
import { signIn } from '../scenarios/sign-in.ts'
import { median, quantile } from '../statistics.ts'
import { fitAlone, fitBatched, fitHashSlowdown, type Measured } from './fit.ts'
import { buildDay, mixedScenario } from './mixed-scenario.ts'
import type { Demand } from './setup.ts'

const scenarios = { read: getUser, refresh, signIn }
type RequestType = keyof typeof scenarios
export interface Demands extends Record<RequestType, Demand> {
  /** How many times longer other work takes while the same machine computes hashes. */
  hashSlowdown: number
}

/** Enough sign-ins that a hash is always running. */
const withHashes = <T>({ read, signIn }: Record<RequestType, T>): T[] => [
  ...Array.from({ length: 19 }, () => read),
  signIn,
]

/** Two servers on two databases of one Postgres. */
export function startServers(): Promise<PosternServers> {
  return startPostern({ beside: join(import.meta.dirname, '../..') })
}

export async function createVariants(own: PosternServers, connections: number): Promise<Variant[]> {
  const serviceRole = await mintServiceRole(own.jwtSecret)
  return own.variants.map(({ name, url, databaseUrl, serverPids }) => ({
    target: createTarget({ name, url, connections, serviceRole, databaseUrl }),
    serverPids,
    postgresPid: postmaster(databaseUrl),
  }))
}

/** Of each load in a round. */
const seconds = 2

/** A load, with that many clients for each server. */
interface Run {
  scenario: Scenario
  clients: number
  servers: number
}

/** Loads that the demands are fitted to. */
const calibration = {
  readByFew: { scenario: scenarios.read, clients: 4, servers: 1 },
  readByMany: { scenario: scenarios.read, clients: 32, servers: 1 },
  refreshByFew: { scenario: scenarios.refresh, clients: 4, servers: 1 },
  refreshByMany: { scenario: scenarios.refresh, clients: 32, servers: 1 },
  signIn: { scenario: scenarios.signIn, clients: 8, servers: 1 },
  hashSlowdowns: { scenario: mixedScenario(withHashes(scenarios)), clients: 12, servers: 1 },
} satisfies Record<string, Run>

const mixed = mixedScenario(buildDay(scenarios))
/** Loads that are predicted. */
export const validation = {
  reads: { scenario: scenarios.read, clients: 12, servers: 1 },
  refreshes: { scenario: scenarios.refresh, clients: 12, servers: 1 },
  'a day': { scenario: mixed, clients: 16, servers: 1 },
  'a day, few clients': { scenario: mixed, clients: 6, servers: 1 },
  'a day, two servers': { scenario: mixed, clients: 16, servers: 2 },
} satisfies Record<string, Run>

type Calibrated = keyof typeof calibration
type Validated = keyof typeof validation
export type Found = Measured & { p50: number; p99: number }

/** Every load in each round, as the machine may become slower or faster in between. */
export async function measureAll(variants: readonly Variant[], rounds: number) {
  const runs: Record<string, Run> = { ...calibration, ...validation }
  const found = new Map<string, Found[]>(Object.keys(runs).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(runs)) {
      found.get(name)?.push(await measureOnce(run, variants))
    }
  }
  return (name: Calibrated | Validated): Found => {
    const all = found.get(name) ?? []
    const middle = (part: keyof Found) => median(all.map((one) => one[part]))
    return {
      clients: middle('clients'),
      perSecond: middle('perSecond'),
      generator: middle('generator'),
      server: middle('server'),
      postgres: middle('postgres'),
      p50: middle('p50'),
      p99: middle('p99'),
    }
  }
}

function measureOnce(
  { scenario, clients, servers }: Run,
  variants: readonly Variant[],
): Promise<Found> {
  const [first] = variants
  if (!first) throw new Error('no server was started')
  return servers === 1
    ? measureAlone(scenario, first, clients)
    : measureTogether(scenario, variants.slice(0, servers), clients)
}

async function measureAlone(
  scenario: Scenario,
  variant: Variant,
  connections: number,
): Promise<Found> {
  const plan = { connections, stock: 100_000, seconds, rounds: 1 }
  const [result] = await measure(scenario, [variant], plan)
  if (!result || 'skipped' in result) throw new Error(`${scenario.name}: ${result?.skipped}`)
  const { perSecond, p50, p99, generatorCpu: generator, serverCpu, postgresCpu } = result
  const [server, postgres] = [serverCpu ?? 0, postgresCpu ?? 0]
  return { clients: connections, perSecond, p50, p99, generator, server, postgres }
}

/** All servers at the same time. Processor times are not measured. */
async function measureTogether(
  scenario: Scenario,
  variants: readonly Variant[],
  connections: number,
): Promise<Found> {
  const runs: { target: Variant['target']; load: Load }[] = []
  for (const { target } of variants) {
    runs.push({ target, load: await scenario.prepare(target, { connections, stock: 100_000 }) })
  }
  const [limit, unknown] = [100_000, Number.NaN]
  const roundFrom = (first: number) =>
    Promise.all(
      runs.map(({ target, load }) =>
        runRound(target, load, { connections, seconds, first, limit }),
      ),
    )
  const warmedUp = await roundFrom(0)
  const rounds = await roundFrom(Math.max(...warmedUp.map(({ next }) => next)))
  const latencies = rounds.flatMap((round) => round.latencies).sort((a, b) => a - b)
  return {
    clients: connections,
    perSecond: rounds.reduce((sum, round) => sum + round.latencies.length / round.seconds, 0),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    ...{ generator: unknown, server: unknown, postgres: unknown },
  }
}

/** Milliseconds that a commit waits for the disk. */
export function measureCommit(databaseUrl: string): Promise<number> {
  return withClient({ connectionString: databaseUrl }, async (client) => {
    const measureDuration = async (statement: string) => {
      const durations: number[] = []
      for (let i = 0; i < 200; i++) {
        const started = performance.now()
        await client.query(statement)
        durations.push(performance.now() - started)
      }
      return median(durations)
    }
    const alone = await measureDuration('select 1')
    const committed = await measureDuration("select pg_logical_emit_message(true, '', '')")
    return Math.max(0, committed - alone)
  })
}

export function toDemands(found: (name: Calibrated) => Measured, commitMs: number): Demands {
  const [signedIn, refreshed] = [found('signIn'), found('refreshByFew')]
  // What a sign-in costs the server more than a refresh, which creates the same tokens.
  const hash = Math.max(signedIn.server - refreshed.server, 0)
  const demands = {
    read: fitBatched('lookup', 0, [found('readByFew'), found('readByMany')]),
    refresh: fitBatched('commit', commitMs, [refreshed, found('refreshByMany')]),
    signIn: fitAlone(commitMs, hash, signedIn),
  }
  return { ...demands, hashSlowdown: fitHashSlowdown(withHashes(demands), found('hashSlowdowns')) }
}
