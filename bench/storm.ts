/**
 * `node bench/storm.ts [--users N] [--rounds N]`: GET /user while users sign in at once, each with the right password.
 * Prints one row a round. The reads are sent by a thread of their own, so that the load generator does not delay them.
 */
import { parseArgs } from 'node:util'
import { parentPort, Worker, workerData } from 'node:worker_threads'

import { Client } from 'undici'

import { mintServiceRole } from '../server/service-role.ts'
import { exchange } from './core/exchange.ts'
import { createTarget, type Target } from './core/target.ts'
import { type BenchUser, bulkUsers, password, signedInUsers } from './core/users.ts'
import { startPostern } from './own-server.ts'
import { quantile } from './statistics.ts'

/** Readers, each with a connection of its own. */
const readers = 4

interface Reading {
  origin: string
  tokens: string[]
}

if (parentPort) await readUntilStopped(workerData)
else await run()

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: {
      users: { type: 'string', default: '200' },
      rounds: { type: 'string', default: '5' },
    },
  })
  const [count, rounds] = [Number(values.users), Number(values.rounds)]
  const own = await startPostern()
  try {
    const serviceRole = await mintServiceRole(own.jwtSecret)
    const { url, databaseUrl } = own
    const options = { name: 'storm', url, connections: count, serviceRole, databaseUrl }
    const target = createTarget(options)
    const found = await bulkUsers(target, count)
    const tokens = (await signedInUsers(target, readers)).map((user) => user.access_token)
    console.log(
      `${count} users\n\n${row(['', 'sign-ins/s', 'reads', 'p50 ms', 'p99 ms', 'max ms'])}`,
    )
    console.log(row(['---', ...Array.from({ length: 5 }, () => '---:')]))
    // The first one compiles the code.
    for (let i = 0; i <= rounds; i++) {
      // Connections that were idle since the last round may have been closed.
      const clients = createTarget(options)
      await measureOnce(clients, found, tokens, i)
      await clients.close()
    }
    await target.close()
  } finally {
    await own.stop()
  }
}

async function measureOnce(
  target: Target,
  found: readonly BenchUser[],
  tokens: string[],
  round: number,
): Promise<void> {
  const { origin } = target
  const worker = new Worker(import.meta.filename, { workerData: { origin, tokens } })
  await new Promise((resolve) => worker.once('message', resolve))
  const began = performance.now()
  await Promise.all(found.map((user) => signIn(target, user)))
  const seconds = (performance.now() - began) / 1000
  const latencies = await new Promise<number[]>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject)
    worker.postMessage('stop')
  })
  const sorted = latencies.toSorted((a, b) => a - b)
  const figures = [0.5, 0.99, 1].map((share) => quantile(sorted, share).toFixed(1))
  const perSecond = (found.length / seconds).toFixed(0)
  console.log(
    row([round === 0 ? 'warm-up' : `round ${round}`, perSecond, String(sorted.length), ...figures]),
  )
}

async function signIn(target: Target, { email }: BenchUser): Promise<void> {
  const path = '/token?grant_type=password'
  await target.call({ method: 'POST', path, body: { email, password } })
}

/** Posts a message when it begins, and the latencies when it is told to stop. */
async function readUntilStopped({ origin, tokens }: Reading): Promise<void> {
  const latencies: number[] = []
  let isStopped = false
  parentPort?.once('message', () => {
    isStopped = true
  })
  parentPort?.postMessage('begun')
  await Promise.all(
    tokens.map(async (token) => {
      const client = new Client(origin)
      while (!isStopped) {
        const sent = performance.now()
        const { status } = await exchange(client, '', { method: 'GET', path: '/user', token })
        if (status !== 200) throw new Error(`GET /user: ${status}`)
        latencies.push(performance.now() - sent)
      }
      await client.close()
    }),
  )
  parentPort?.postMessage(latencies)
}

function row(cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}
