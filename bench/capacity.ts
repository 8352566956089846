/**
 * `node bench/capacity.ts`: how many machines a load needs, predicted from bench/capacity/demands.json.
 * `node bench/capacity.ts --measure`: measures the demands on this machine, predicts other loads, and measures those.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import {
  type Demands,
  demandsAt,
  figuresOf,
  type MeasuredDemands,
  measureDemands,
  poolSize,
  scenarios,
  sidesOf,
  startServers,
} from './capacity/measured.ts'
import { dayOf, mixedScenario } from './capacity/mixed-scenario.ts'
import { plan } from './capacity/plan.ts'
import { type Demand, simulate } from './capacity/simulation.ts'
import type { Scenario } from './core/scenario.ts'
import type { Side } from './cost.ts'

/** Requests that a server of a plan has at the same time. */
const plannedClients = 16
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
    printDemands('4 clients', demands.few)
    printDemands('32 clients', demands.many)
    console.log('\n| Load | Clients | Servers | | requests/s | p50 ms | p99 ms |')
    console.log('| --- | ---: | ---: | --- | ---: | ---: | ---: |')
    for (const clients of [8, 16]) {
      const { read, refresh } = demandsAt(demands, clients)
      await row('read', [read], scenarios.read, [first], clients)
      await row('refresh', [refresh], scenarios.refresh, [first], clients)
    }
    const mixed = mixedScenario(dayOf(scenarios))
    for (const [servers, clients] of [
      [[first], 16],
      [sides, 16],
    ] as const) {
      await row('a day', dayOf(demandsAt(demands, clients)), mixed, servers, clients)
    }
    for (const { target } of sides) await target.close()
  } finally {
    await own.stop()
  }
}

async function row(
  name: string,
  requests: readonly Demand[],
  scenario: Scenario,
  sides: readonly Side[],
  clients: number,
) {
  const found = await Promise.all(sides.map((side) => figuresOf(scenario, side, clients)))
  const perSecond = found.reduce((sum, figures) => sum + figures.perSecond, 0)
  const predicted = simulate(requests, {
    replicas: sides.length,
    cores: availableParallelism(),
    pool: poolSize * sides.length,
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

function printDemands(title: string, demands: Demands): void {
  console.log(`| ${title} | generator | server | hash | Postgres | wait |`)
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |')
  for (const [name, { generator, server, hash, postgres, wait }] of Object.entries(demands)) {
    const cells = [generator, server, hash, postgres, wait].map((ms) => ms.toFixed(3))
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
}

function printPlan(measured: MeasuredDemands): void {
  const demands = demandsAt(measured, plannedClients)
  console.log('| Requests/s | Servers (2 cores) | Cores of Postgres | p99 ms | Busiest |')
  console.log('| ---: | ---: | ---: | ---: | --- |')
  for (const perSecond of [100, 1000, 5000, 10_000, 25_000, 50_000]) {
    const { replicas, postgresCores, p99, busiest } = plan(dayOf(demands), perSecond)
    const cells = [perSecond, replicas, postgresCores, p99.toFixed(1), busiest]
    console.log(`| ${cells.join(' | ')} |`)
  }
}
