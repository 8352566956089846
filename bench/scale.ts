/**
 * What size costs: `node bench/scale.ts [people] [seconds]`, for example 1000000 10.
 * Each row of the table of benchmarks with an almost empty database and with that many people and sessions, and
 * GET /user while the clean-up removes as many ended sessions.
 */
import pg from 'pg'

import { type Cost, type Side, settle } from './cost.ts'
import { postmaster } from './listener.ts'
import { type Round, runRound } from './load.ts'
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
import { createTarget } from './target.ts'

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
  /** Milliseconds of the server's and Postgres's processor time per good answer. */
  cpu: number
}

const own = await startOwnServer()
const client = new pg.Client({ connectionString: own.databaseUrl })
try {
  await client.connect()
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const target = createTarget({ name: 'own', url: own.url, connections, serviceRole })
  const side: Side = {
    target,
    serverPids: own.sides[0]?.serverPids ?? [],
    postgresPid: postmaster(own.databaseUrl),
  }
  await compareSizes(side)
  await cleanUpUnderLoad(side)
  await target.close()
} finally {
  await client.end()
  await own.stop()
}

async function compareSizes(side: Side): Promise<void> {
  await storePeople(client, 0, active)
  const small = await measureAll(side)
  const startedAt = performance.now()
  await storePeople(client, active, people - active)
  console.log(`${people} people in ${Math.round((performance.now() - startedAt) / 1000)} s\n`)
  const large = await measureAll(side)
  console.log(
    `| Request | ${active} people: /s | p50 ms | p99 ms | CPU ms | ${people} people: /s | p50 ms | p99 ms | CPU ms | rate | CPU |`,
  )
  console.log(`|${' --- |'.repeat(11)}`)
  for (const [name, few] of Object.entries(small)) {
    const many = large[name] ?? few
    const rate = percent(many.perSecond, few.perSecond)
    const cpu = percent(many.cpu, few.cpu)
    console.log(`| ${[name, ...cells(few), ...cells(many), rate, cpu].join(' | ')} |`)
  }
}

async function measureAll(side: Side): Promise<Record<string, Figures>> {
  const { target } = side
  const emails = await pickEmails(client, active)
  const sessions = await Promise.all(emails.map((email) => signIn(target, email)))
  return {
    'GET /user': await measure(side, getUser(sessions)),
    refresh: await measure(side, refresh(sessions, connections)),
    'sign-in': await measure(side, signIns(emails)),
    'PUT /user': await measure(side, putUser(sessions)),
    'GET /admin/users/{id}': await measure(side, adminGet(sessions, target.adminToken())),
    'GET /admin/users (50)': await measure(side, adminList(target.adminToken())),
    'sign-up': await measure(side, signUps()),
    'anonymous sign-up': await measure(side, anonymousSignUps()),
  }
}

/** The median of some rounds, after one that is not counted. */
async function measure(side: Side, load: Load): Promise<Figures> {
  const options = { connections, seconds: seconds / rounds, limit: Number.POSITIVE_INFINITY }
  let { next } = await runRound(side.target, load, { ...options, first: 0 })
  const seen: Figures[] = []
  for (let i = 0; i < rounds; i++) {
    const before = await settle(side)
    const round = await runRound(side.target, load, { ...options, first: next })
    next = round.next
    seen.push(figuresOf(round, sumOf(await settle(side)) - sumOf(before)))
  }
  const middle = (of: (figures: Figures) => number) => median(seen.map(of))
  return {
    perSecond: middle((figures) => figures.perSecond),
    p50: middle((figures) => figures.p50),
    p99: middle((figures) => figures.p99),
    cpu: middle((figures) => figures.cpu),
    errors: seen.reduce((sum, { errors }) => sum + errors, 0),
  }
}

function sumOf({ server, postgres }: Cost): number {
  return server + postgres
}

function figuresOf({ latencies, errors, seconds }: Round, cpuMs: number): Figures {
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    perSecond: latencies.length / seconds,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    errors: countOf(errors),
    cpu: cpuMs / latencies.length,
  }
}

function countOf(errors: Round['errors']): number {
  return [...errors.values()].reduce((sum, count) => sum + count, 0)
}

async function cleanUpUnderLoad(side: Side): Promise<void> {
  const { target } = side
  const emails = await pickEmails(client, active)
  const sessions = await Promise.all(emails.map((email) => signIn(target, email)))
  const load = getUser(sessions)
  await storeEndedSessions(client, people)
  const before = await measure(side, load)
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
    failed += countOf(round.errors)
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

function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`
}

function cells({ perSecond, p50, p99, cpu, errors }: Figures): string[] {
  const rate = errors === 0 ? perSecond.toFixed(0) : `${perSecond.toFixed(0)}, ${errors} failed`
  return [rate, p50.toFixed(1), p99.toFixed(1), cpu.toFixed(2)]
}
