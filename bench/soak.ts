/**
 * `npm run bench:soak -- [--seconds N] [--connections N]`: this server under mixed load for ten minutes. Fails when
 * memory grows by more than a tenth from the first half to the second.
 */
import { parseArgs } from 'node:util'

import { mintServiceRole } from '../server/service-role.ts'
import { catalogue } from './catalogue.ts'
import type { Load } from './core/scenario.ts'
import { createTarget, type Target } from './core/target.ts'
import { readMemory } from './cost.ts'
import { runRound } from './load.ts'
import { startPostern } from './own-server.ts'

const mixed = ['get-user', 'refresh', 'put-user', 'sign-in', 'admin-get', 'sign-up-anonymous']
const roundSeconds = 2

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    connections: { type: 'string', default: '16' },
  },
})
const seconds = Number(values.seconds)
const connections = Number(values.connections)

const own = await startPostern()
try {
  await soak()
} finally {
  await own.stop()
}

async function soak(): Promise<void> {
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const { url, databaseUrl } = own
  const target = createTarget({ name: 'soak', url, connections, serviceRole, databaseUrl })
  const { serverPids } = own.variants[0] ?? { serverPids: [] }
  const variant = { target, serverPids, postgresPid: undefined }
  const memory: number[] = []
  let responses = 0
  const loads = await prepareAll(target)
  const began = performance.now()
  while (performance.now() - began < seconds * 1000) {
    responses += await oneCycle(target, loads)
    const mib = readMemory(variant)
    memory.push(mib)
    const at = Math.round((performance.now() - began) / 1000)
    console.log(`${at} s: ${mib.toFixed(0)} MiB after ${responses} answers`)
  }
  await target.close()
  checkGrowth(memory)
}

interface Running {
  load: Load
  next: number
}

async function prepareAll(target: Target): Promise<Running[]> {
  const scenarios = catalogue.filter(({ name }) => mixed.includes(name))
  const running: Running[] = []
  for (const scenario of scenarios) {
    running.push({ load: await scenario.prepare(target, { connections, stock: 0 }), next: 0 })
  }
  return running
}

async function oneCycle(target: Target, loads: Running[]): Promise<number> {
  let responses = 0
  for (const running of loads) {
    const limit = running.load.stock ?? Number.POSITIVE_INFINITY
    const options = { connections, seconds: roundSeconds, first: running.next, limit }
    const round = await runRound(target, running.load, options)
    running.next = round.next
    responses += round.latencies.length
    for (const [failure, count] of round.errors) console.error(`${count} times ${failure}`)
  }
  return responses
}

/** The highest value of each half: memory after a single collection varies too much. */
function checkGrowth(memory: number[]): void {
  const half = Math.floor(memory.length / 2)
  const first = Math.max(...memory.slice(0, half))
  const second = Math.max(...memory.slice(half))
  const growth = second / first - 1
  console.log(`first half ${first.toFixed(0)} MiB, second half ${second.toFixed(0)} MiB`)
  if (growth > 0.1) process.exitCode = 1
}
