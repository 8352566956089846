/**
 * `node bench/capacity.ts`: how many machines a load needs, predicted from bench/capacity/demands.json.
 * `node bench/capacity.ts --measure`: measures the demands on this machine, and compares other loads with their prediction.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { thisMachine } from './capacity/fit.ts'
import {
  createVariants,
  type Demands,
  type Found,
  measureAll,
  measureCommit,
  startServers,
  toDemands,
  validation,
} from './capacity/measured.ts'
import { buildDay } from './capacity/mixed-scenario.ts'
import { plan } from './capacity/plan.ts'
import type { Demand } from './capacity/setup.ts'
import { type Prediction, simulate } from './capacity/simulation.ts'

const file = join(import.meta.dirname, 'capacity/demands.json')
const { values } = parseArgs({
  options: {
    measure: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
  },
})
if (values.measure) await compare(Number(values.rounds))
else {
  const demands: Demands = JSON.parse(readFileSync(file, 'utf8'))
  printPlan(demands)
  printRegions(demands)
}

async function compare(rounds: number): Promise<void> {
  const own = await startServers()
  try {
    const variants = await createVariants(own, 32)
    const found = await measureAll(variants, rounds)
    const commitMs = await measureCommit(own.variants[0]?.databaseUrl ?? '')
    for (const { target } of variants) await target.close()
    const demands = toDemands(found, commitMs)
    writeFileSync(file, `${JSON.stringify(demands, null, 2)}\n`)
    printComparison(demands, found)
  } finally {
    await own.stop()
  }
}

function printComparison(demands: Demands, found: (name: keyof typeof validation) => Found): void {
  const requests: Record<keyof typeof validation, readonly Demand[]> = {
    reads: [demands.read],
    refreshes: [demands.refresh],
    'a day': buildDay(demands),
    'a day, few clients': buildDay(demands),
    'a day, two servers': buildDay(demands),
  }
  console.log('| Load | Clients | | requests/s | p50 ms | p99 ms |')
  console.log('| --- | ---: | --- | ---: | ---: | ---: |')
  for (const name of listKeys(validation)) {
    const { clients, servers } = validation[name]
    const predicted = simulate(
      requests[name],
      thisMachine(servers, clients * servers, demands.hashSlowdown),
    )
    const head = `| ${name} | ${clients * servers} |`
    const measured = found(name)
    const deviation = Math.round(100 * (predicted.perSecond / measured.perSecond - 1))
    console.log(`${head} measured | ${cells(measured)}`)
    console.log(`${head} predicted (${deviation} %) | ${cells(predicted)}`)
  }
}

function cells({ perSecond, p50, p99 }: Pick<Prediction, 'perSecond' | 'p50' | 'p99'>): string {
  return `${Math.round(perSecond)} | ${p50.toFixed(1)} | ${p99.toFixed(1)} |`
}

function listKeys<K extends string>(record: Record<K, unknown>): K[] {
  return Object.keys(record) as K[]
}

function printPlan(demands: Demands): void {
  console.log('| Requests/s | Servers (2 cores) | Cores of Postgres | p99 ms | Busiest |')
  console.log('| ---: | ---: | ---: | ---: | --- |')
  for (const perSecond of [100, 1000, 5000, 10_000, 25_000, 50_000]) {
    const { replicas, postgresCores, p99, busiest } = plan(
      buildDay(demands),
      perSecond,
      demands.hashSlowdown,
    )
    const figures = [perSecond, replicas, postgresCores, p99.toFixed(1), busiest]
    console.log(`| ${figures.join(' | ')} |`)
  }
}

/** Servers in three regions, one of which has the primary. */
function printRegions({ read, refresh, hashSlowdown }: Demands): void {
  console.log('\n| Round trip ms | Request | p50 ms | p99 ms | Connections in use |')
  console.log('| ---: | --- | ---: | ---: | ---: |')
  for (const roundTripMs of [0, 20, 80, 150]) {
    for (const [name, demand] of [
      ['read', read],
      ['refresh', refresh],
    ] as const) {
      const { p50, p99, busy } = simulate([demand], {
        ...{ replicas: 3, cores: 2, postgresCores: 2, hashSlowdown, pool: 1000, seconds: 20 },
        regions: { count: 3, roundTripMs },
        load: { perSecond: 1500 },
      })
      const used = Math.ceil((busy.connections ?? 0) * 1000)
      const figures = [roundTripMs, name, p50.toFixed(1), p99.toFixed(1), used]
      console.log(`| ${figures.join(' | ')} |`)
    }
  }
}
