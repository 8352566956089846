/**
 * `node bench/capacity.ts`: how many machines a load needs, predicted from bench/capacity/demands.json.
 * `node bench/capacity.ts --measure`: measures the demands on this machine, predicts other loads, and measures those.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import {
  figuresOf,
  measureDemands,
  type RequestType,
  scenarios,
  sidesOf,
  startServers,
} from './capacity/measured.ts'
import { dayOf, mixedScenario } from './capacity/mixed-scenario.ts'
import { plan } from './capacity/plan.ts'
import { type Demand, type Mix, simulate } from './capacity/simulation.ts'
import type { Scenario } from './core/scenario.ts'
import type { Side } from './cost.ts'

type Demands = Record<RequestType, Demand>

const file = join(import.meta.dirname, 'capacity/demands.json')
const { values } = parseArgs({ options: { measure: { type: 'boolean', default: false } } })
if (values.measure) await compare()
else printPlan(JSON.parse(readFileSync(file, 'utf8')))

/** Loads by clients for each server, on one server or on two. */
async function compare(): Promise<void> {
  const own = await startServers()
  try {
    const sides = await sidesOf(own, 32)
    const [first] = sides
    if (!first) throw new Error('no server was started')
    const demands = await measureDemands(first)
    writeFileSync(file, `${JSON.stringify(demands, null, 2)}\n`)
    printDemands(demands)
    console.log('\n| Load | Clients | Servers | | requests/s | p50 ms | p99 ms |')
    console.log('| --- | ---: | ---: | --- | ---: | ---: | ---: |')
    for (const [name, type] of [
      ['read', 'read'],
      ['refresh', 'refresh'],
    ] as const) {
      const mix = [{ share: 1, demand: demands[type] }]
      for (const clients of [8, 32]) await row(name, mix, scenarios[type], [first], clients)
    }
    const mixed = mixedScenario(dayOf(scenarios))
    const mix = dayOf(demands).map((demand, _, { length }) => ({ share: 1 / length, demand }))
    for (const clients of [8, 32]) await row('a day', mix, mixed, [first], clients)
    await row('a day', mix, mixed, sides, 16)
    for (const { target } of sides) await target.close()
  } finally {
    await own.stop()
  }
}

async function row(name: string, mix: Mix, scenario: Scenario, sides: Side[], clients: number) {
  const found = await Promise.all(sides.map((side) => figuresOf(scenario, side, clients)))
  const perSecond = found.reduce((sum, figures) => sum + figures.perSecond, 0)
  const predicted = simulate(mix, {
    replicas: sides.length,
    cores: cpus().length,
    pool: 20 * sides.length,
    load: { clients: clients * sides.length },
    seconds: 20,
  })
  const deviation = `${Math.round(100 * (predicted.perSecond / perSecond - 1))} %`
  const head = `| ${name} | ${clients * sides.length} | ${sides.length} |`
  const p = (share: 'p50' | 'p99') => Math.max(...found.map((figures) => figures[share])).toFixed(1)
  console.log(`${head} measured | ${Math.round(perSecond)} | ${p('p50')} | ${p('p99')} |`)
  console.log(
    `${head} predicted | ${Math.round(predicted.perSecond)} (${deviation}) | ${predicted.p50.toFixed(1)} | ${predicted.p99.toFixed(1)} |`,
  )
}

function printDemands(demands: Demands): void {
  console.log('| Request | generator | server | hash | Postgres | wait |')
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |')
  for (const [name, { generator, server, hash, postgres, wait }] of Object.entries(demands)) {
    const cells = [generator, server, hash, postgres, wait].map((ms) => ms.toFixed(3))
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
}

function printPlan(demands: Demands): void {
  console.log('| Requests/s | Servers (2 cores) | Cores of Postgres | p99 ms | Busiest |')
  console.log('| ---: | ---: | ---: | ---: | --- |')
  for (const perSecond of [100, 1000, 5000, 10_000, 25_000, 50_000]) {
    const { replicas, postgresCores, p99, busiest } = plan(dayOf(demands), perSecond)
    const cells = [perSecond, replicas, postgresCores, p99.toFixed(1), busiest]
    console.log(`| ${cells.join(' | ')} |`)
  }
}
