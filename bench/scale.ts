/**
 * Scaling with data size: `node bench/scale.ts [users] [seconds]`, for example 1000000 10. Each row of the benchmark
 * table with an almost empty database and with that many users and sessions, alternating, and GET /user while the
 * cleanup removes as many expired sessions.
 */
import { join } from 'node:path'

import pg from 'pg'

import { mintServiceRole } from '../server/service-role.ts'
import { postmaster } from './core/listener.ts'
import type { Load } from './core/scenario.ts'
import { createTarget } from './core/target.ts'
import type { Variant } from './cost.ts'
import { runRound } from './load.ts'
import { type PosternVariant, startPostern } from './own-server.ts'
import { countErrors, type Figures, measureRounds, warmedUp } from './rounds.ts'
import { quantile } from './statistics.ts'
import {
  adminGet,
  adminList,
  anonymousSignUps,
  getUser,
  putUser,
  refresh,
  type Session,
  signIn,
  signIns,
  signUps,
} from './stored-loads.ts'
import { countEndedSessions, insertUsers, pickEmails, storeEndedSessions } from './stored-users.ts'

const [users = 1_000_000, seconds = 5] = process.argv.slice(2).map(Number)
const connections = 4
/** The active users, spread over the whole table. */
const active = 200
const rounds = 3
const pace = { connections, seconds: seconds / rounds }

interface Users {
  emails: string[]
  sessions: Session[]
  adminToken: string
}

/** Each row with its request. */
const loads: Record<string, (users: Users) => Load> = {
  'GET /user': ({ sessions }) => getUser(sessions),
  refresh: ({ sessions }) => refresh(sessions, connections),
  'sign-in': ({ emails }) => signIns(emails),
  'PUT /user': ({ sessions }) => putUser(sessions),
  'GET /admin/users/{id}': ({ sessions, adminToken }) => adminGet(sessions, adminToken),
  'GET /admin/users (50)': ({ adminToken }) => adminList(adminToken),
  'sign-up': () => signUps(),
  'anonymous sign-up': () => anonymousSignUps(),
}

/** A server with a database of its own. */
interface Measured {
  variant: Variant
  client: pg.Client
}

// The same server twice, on two databases of one Postgres.
const own = await startPostern({ beside: join(import.meta.dirname, '..') })
const open: Measured[] = []
try {
  for (const variant of own.variants) open.push(await opened(variant))
  const [small, large] = open
  if (!small || !large) throw new Error('two servers are required')
  await compareSizes(small, large)
  await runCleanupUnderLoad(large)
} finally {
  for (const { variant, client } of open) {
    await variant.target.close()
    await client.end()
  }
  await own.stop()
}

async function opened({ url, databaseUrl, serverPids }: PosternVariant): Promise<Measured> {
  const client = new pg.Client({ connectionString: databaseUrl })
  // The connection is lost when a run is terminated.
  client.on('error', () => {})
  await client.connect()
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const target = createTarget({ name: 'own', url, connections, serviceRole })
  return { variant: { target, serverPids, postgresPid: postmaster(databaseUrl) }, client }
}

async function compareSizes(small: Measured, large: Measured): Promise<void> {
  await insertUsers(small.client, 0, active)
  const startedAt = performance.now()
  await insertUsers(large.client, 0, users)
  console.log(`${users} users in ${Math.round((performance.now() - startedAt) / 1000)} s\n`)
  console.log(
    `| Request | ${active} users: /s | p50 ms | p99 ms | CPU ms | ${users} users: /s | p50 ms | p99 ms | CPU ms | rate | CPU |`,
  )
  console.log(`|${' --- |'.repeat(11)}`)
  const [usersOfSmall, usersOfLarge] = [await signedIn(small), await signedIn(large)]
  for (const [name, createLoad] of Object.entries(loads)) {
    const { few, many } = await measureRounds(
      {
        few: { variant: small.variant, load: createLoad(usersOfSmall), ...pace },
        many: { variant: large.variant, load: createLoad(usersOfLarge), ...pace },
      },
      rounds,
    )
    const rate = percent(many.perSecond, few.perSecond)
    const cpu = percent(many.cpu, few.cpu)
    console.log(`| ${[name, ...cells(few), ...cells(many), rate, cpu].join(' | ')} |`)
  }
}

async function signedIn({ variant: { target }, client }: Measured): Promise<Users> {
  const emails = await pickEmails(client, active)
  const sessions = await Promise.all(emails.map((email) => signIn(target, email)))
  return { emails, sessions, adminToken: target.adminToken() }
}

async function runCleanupUnderLoad(measured: Measured): Promise<void> {
  const { variant, client } = measured
  const { sessions } = await signedIn(measured)
  const load = getUser(sessions)
  await storeEndedSessions(client, users)
  const course = await warmedUp({ variant, load, ...pace })
  for (let i = 0; i < rounds; i++) await course.round()
  const before = course.figures()
  const startedAt = performance.now()
  await client.query("select auth_jobs.add_job('clean_up')")
  const latencies: number[] = []
  let failed = 0
  let left = users
  for (let first = 0; left > 0 && performance.now() - startedAt < 1_800_000; ) {
    const limit = Number.POSITIVE_INFINITY
    const round = await runRound(variant.target, load, { connections, seconds: 1, first, limit })
    first = round.next
    latencies.push(...round.latencies)
    failed += countErrors(round.errors)
    left = await countEndedSessions(client)
  }
  const took = Math.round((performance.now() - startedAt) / 1000)
  const sorted = latencies.toSorted((a, b) => a - b)
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => quantile(sorted, share).toFixed(1))
  console.log(
    `\nCleanup of ${users - left} of ${users} ended sessions in ${took} s; GET /user during it: ` +
      `p50 ${p50} ms, p99 ${p99} ms, max ${most} ms, ${failed} failed ` +
      `(before: p50 ${before.p50.toFixed(1)} ms, p99 ${before.p99.toFixed(1)} ms)`,
  )
}

function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`
}

function cells({ perSecond, p50, p99, cpu, errors }: Figures): string[] {
  const rate = errors === 0 ? perSecond.toFixed(0) : `${perSecond.toFixed(0)}, ${errors} failed`
  return [rate, p50.toFixed(1), p99.toFixed(1), cpu.toFixed(2)]
}
