/**
 * What size costs: `node bench/scale.ts [people] [seconds]`, for example 1000000 10.
 * Each row of the table of benchmarks with an almost empty database and with that many people and sessions, by turns,
 * and GET /user while the clean-up removes as many ended sessions.
 */
import { join } from 'node:path'

import pg from 'pg'

import type { Side } from './cost.ts'
import { postmaster } from './listener.ts'
import { runRound } from './load.ts'
import { type OwnSide, startOwnServer } from './own-server.ts'
import type { Load } from './scenario.ts'
import { mintServiceRole } from './service-role.ts'
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
import { countEndedSessions, pickEmails, storeEndedSessions, storePeople } from './stored-people.ts'
import { createTarget } from './target.ts'
import { countOf, type Figures, measureByTurns, warmedUp } from './turns.ts'

const [people = 1_000_000, seconds = 5] = process.argv.slice(2).map(Number)
const connections = 4
/** Who is active; in a large table they are spread over all of it. */
const active = 200
const rounds = 3
const pace = { connections, seconds: seconds / rounds }

interface People {
  emails: string[]
  sessions: Session[]
  adminToken: string
}

/** Each row, with what asks for it. */
const loads: Record<string, (people: People) => Load> = {
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
  side: Side
  client: pg.Client
}

// The same server twice, on two databases of one Postgres.
const own = await startOwnServer({ beside: join(import.meta.dirname, '..') })
const open: Measured[] = []
try {
  for (const side of own.sides) open.push(await opened(side))
  const [small, large] = open
  if (!small || !large) throw new Error('two servers were asked for')
  await compareSizes(small, large)
  await cleanUpUnderLoad(large)
} finally {
  for (const { side, client } of open) {
    await side.target.close()
    await client.end()
  }
  await own.stop()
}

async function opened({ url, databaseUrl, serverPids }: OwnSide): Promise<Measured> {
  const client = new pg.Client({ connectionString: databaseUrl })
  // A run that is told to stop loses it.
  client.on('error', () => {})
  await client.connect()
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const target = createTarget({ name: 'own', url, connections, serviceRole })
  return { side: { target, serverPids, postgresPid: postmaster(databaseUrl) }, client }
}

async function compareSizes(small: Measured, large: Measured): Promise<void> {
  await storePeople(small.client, 0, active)
  const startedAt = performance.now()
  await storePeople(large.client, 0, people)
  console.log(`${people} people in ${Math.round((performance.now() - startedAt) / 1000)} s\n`)
  console.log(
    `| Request | ${active} people: /s | p50 ms | p99 ms | CPU ms | ${people} people: /s | p50 ms | p99 ms | CPU ms | rate | CPU |`,
  )
  console.log(`|${' --- |'.repeat(11)}`)
  const [peopleOfSmall, peopleOfLarge] = [await signedIn(small), await signedIn(large)]
  for (const [name, loadOf] of Object.entries(loads)) {
    const { few, many } = await measureByTurns(
      {
        few: { side: small.side, load: loadOf(peopleOfSmall), ...pace },
        many: { side: large.side, load: loadOf(peopleOfLarge), ...pace },
      },
      rounds,
    )
    const rate = percent(many.perSecond, few.perSecond)
    const cpu = percent(many.cpu, few.cpu)
    console.log(`| ${[name, ...cells(few), ...cells(many), rate, cpu].join(' | ')} |`)
  }
}

async function signedIn({ side: { target }, client }: Measured): Promise<People> {
  const emails = await pickEmails(client, active)
  const sessions = await Promise.all(emails.map((email) => signIn(target, email)))
  return { emails, sessions, adminToken: target.adminToken() }
}

async function cleanUpUnderLoad(measured: Measured): Promise<void> {
  const { side, client } = measured
  const { sessions } = await signedIn(measured)
  const load = getUser(sessions)
  await storeEndedSessions(client, people)
  const course = await warmedUp({ side, load, ...pace })
  for (let i = 0; i < rounds; i++) await course.round()
  const before = course.figures()
  const startedAt = performance.now()
  await client.query("select auth_jobs.add_job('clean_up')")
  const latencies: number[] = []
  let failed = 0
  let left = people
  for (let first = 0; left > 0 && performance.now() - startedAt < 1_800_000; ) {
    const limit = Number.POSITIVE_INFINITY
    const round = await runRound(side.target, load, { connections, seconds: 1, first, limit })
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
