/**
 * `npm run bench:soak -- [--seconds N] [--connections N]`: this server under the mix of requests for five minutes. Fails
 * when memory exceeds the goal of docs/benchmarks.md, or grows by more than a tenth from the first half to the second.
 */
import { parseArgs } from 'node:util'

import { mintServiceRole } from '../server/service-role.ts'
import { createTarget } from './core/target.ts'
import { readMemory } from './cost.ts'
import { runRound } from './load.ts'
import { startPostern } from './own-server.ts'
import { mix } from './scenarios/mix.ts'

const roundSeconds = 5
const maxMib = 230

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
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
  console.log(`at rest: ${readMemory(variant).toFixed(0)} MiB`)
  const load = await mix.prepare(target, { connections, stock: 0 })
  const options = { connections, seconds: roundSeconds, limit: Number.POSITIVE_INFINITY }
  const memory: number[] = []
  let first = 0
  const began = performance.now()
  while (performance.now() - began < seconds * 1000) {
    const round = await runRound(target, load, { ...options, first })
    first = round.next
    for (const [failure, count] of round.errors) console.error(`${count} times ${failure}`)
    const mib = readMemory(variant)
    memory.push(mib)
    const at = Math.round((performance.now() - began) / 1000)
    console.log(`${at} s: ${mib.toFixed(0)} MiB after ${first} requests`)
  }
  await target.close()
  checkMemory(memory)
}

/** The highest value of each half: memory after a single collection varies too much. */
function checkMemory(memory: number[]): void {
  const half = Math.floor(memory.length / 2)
  const first = Math.max(...memory.slice(0, half))
  const second = Math.max(...memory.slice(half))
  console.log(`first half ${first.toFixed(0)} MiB, second half ${second.toFixed(0)} MiB`)
  if (second > maxMib || second / first > 1.1) process.exitCode = 1
}
