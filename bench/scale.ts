/**
 * What size costs: `node bench/scale.ts [people] [seconds]`, for example 1000000 10.
 * Each row of the table of benchmarks with an almost empty database and with that many people and sessions, and
 * GET /user while the clean-up removes as many ended sessions.
 */
import pg from 'pg'

import { runRound } from './load.ts'
import { startOwnServer } from './own-server.ts'
import type { Load } from './scenario.ts'
import { mintServiceRole } from './service-role.ts'
import { median, quantile } from './statistics.ts'
import {
  adminGet,
  adminList,
  anonymousSignUps,
  getUser,
  putUser,
  refresh,
  signIn,
  signIns,
  signUps,
} from './stored-loads.ts'
import { countEndedSessions, pickEmails, storeEndedSessions, storePeople } from './stored-people.ts'
import { createTarget, type Target } from './target.ts'

const [people = 1_000_000, seconds = 5] = process.argv.slice(2).map(Number)
const connections = 4
/** Who is active; in a large table they are spread over all of it. */
const active = 200
const rounds = 3

interface Figures {
  perSecond: number
  p50: number
  p99: number
  errors: number
}

const own = await startOwnServer()
const client = new pg.Client({ connectionString: own.databaseUrl })
try {
  await client.connect()
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const target = createTarget({ name: 'own', url: own.url, connections, serviceRole })
  await compareSizes(target)
  await cleanUpUnderLoad(target)
  await target.close()
} finally {
  await client.end()
  await own.stop()
}

async function compareSizes(target: Target): Promise<void> {
  await storePeople(client, 0, active)
  const small = await measureAll(target)
  const startedAt = performance.now()
  await storePeople(client, active, people - active)
  console.log(`${people} people in ${Math.round((performance.now() - startedAt) / 1000)} s\n`)
  const large = await measureAll(target)
  console.log(
    `| Request | ${active} people: /s | p50 ms | p99 ms | ${people} people: /s | p50 ms | p99 ms | rate |`,
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |')
  for (const [name, few] of Object.entries(small)) {
    const many = large[name] ?? few
    const share = `${Math.round((100 * many.perSecond) / few.perSecond)} %`
    console.log(`| ${[name, ...cells(few), ...cells(many), share].join(' | ')} |`)
  }
}

async function measureAll(target: Target): Promise<Record<string, Figures>> {
  const emails = await pickEmails(client, active)
  const sessions = await Promise.all(emails.map((email) => signIn(target, email)))
  return {
    'GET /user': await measure(target, getUser(sessions)),
    refresh: await measure(target, refresh(sessions, connections)),
    'sign-in': await measure(target, signIns(emails)),
    'PUT /user': await measure(target, putUser(sessions)),
    'GET /admin/users/{id}': await measure(target, adminGet(sessions, target.adminToken())),
    'GET /admin/users (50)': await measure(target, adminList(target.adminToken())),
    'sign-up': await measure(target, signUps()),
    'anonymous sign-up': await measure(target, anonymousSignUps()),
  }
}

/** The median of some rounds, after one that is not counted. */
async function measure(target: Target, load: Load): Promise<Figures> {
  const options = { connections, seconds: seconds / rounds, limit: Number.POSITIVE_INFINITY }
  let { next } = await runRound(target, load, { ...options, first: 0 })
  const seen: Figures[] = []
  for (let i = 0; i < rounds; i++) {
    const round = await runRound(target, load, { ...options, first: next })
    next = round.next
    seen.push(figuresOf(round))
  }
  const middle = (of: (figures: Figures) => number) => median(seen.map(of))
  return {
    perSecond: middle((figures) => figures.perSecond),
    p50: middle((figures) => figures.p50),
    p99: middle((figures) => figures.p99),
    errors: seen.reduce((sum, { errors }) => sum + errors, 0),
  }
}

function figuresOf({ latencies, errors, seconds }: Awaited<ReturnType<typeof runRound>>): Figures {
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    perSecond: latencies.length / seconds,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    errors: [...errors.values()].reduce((sum, count) => sum + count, 0),
  }
}

async function cleanUpUnderLoad(target: Target): Promise<void> {
  const emails = await pickEmails(client, active)
  const sessions = await Promise.all(emails.map((email) => signIn(target, email)))
  const load = getUser(sessions)
  await storeEndedSessions(client, people)
  const before = await measure(target, load)
  const startedAt = performance.now()
  await client.query("select auth_jobs.add_job('clean_up')")
  const latencies: number[] = []
  let failed = 0
  let left = people
  for (let first = 0; left > 0 && performance.now() - startedAt < 1_800_000; ) {
    const limit = Number.POSITIVE_INFINITY
    const round = await runRound(target, load, { connections, seconds: 1, first, limit })
    first = round.next
    latencies.push(...round.latencies)
    failed += figuresOf(round).errors
    left = await countEndedSessions(client)
  }
  const took = Math.round((performance.now() - startedAt) / 1000)
  const sorted = latencies.toSorted((a, b) => a - b)
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => quantile(sorted, share).toFixed(1))
  console.log(
    `\nClean-up of ${people - left} of ${people} ended sessions in ${took} s; GET /user meanwhile: ` +
      `p50 ${p50} ms, p99 ${p99} ms, most ${most} ms, ${failed} failed ` +
      `(before: p50 ${before.p50.toFixed(1)} ms, p99 ${before.p99.toFixed(1)} ms)`,
  )
}

function cells({ perSecond, p50, p99, errors }: Figures): string[] {
  const rate = errors === 0 ? perSecond.toFixed(0) : `${perSecond.toFixed(0)}, ${errors} failed`
  return [rate, p50.toFixed(1), p99.toFixed(1)]
}
