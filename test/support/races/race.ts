/** Runs two requests against each other, statement by statement, in the order that a seed decides. */
import pg from 'pg'

import { type Course, type Lane, type Passage, runIn, watch } from './lanes.ts'
import { type Schedule, scheduleOf } from './schedule.ts'

/** How long a statement may take before the database is asked whether it waits for a lock, in milliseconds. */
const quick = 3

/** A request that comes to no border for so long waits for something in this process that the other one has. */
const stuck = 250

export interface Racetrack {
  race<A, B>(requests: Requests<A, B>, seed: number): Promise<Outcome<A, B>>
  close(): Promise<void>
}

interface Requests<A, B> {
  first: () => Promise<A>
  second: () => Promise<B>
}

export interface Outcome<A, B> {
  first: A
  second: B
  /** What went to the database, in the order in which it was let go. */
  passages: Passage[]
}

/** A server's pool, and a connection of our own that asks who waits for whom. */
export async function openRacetrack(pool: pg.Pool, url: string): Promise<Racetrack> {
  const observer = new pg.Client({ connectionString: url })
  // The database may be dropped before this is closed.
  observer.on('error', () => {})
  await observer.connect()
  watch(pool)
  await openConnections(pool)
  return {
    race: (requests, seed) => race(observer, requests, scheduleOf(seed)),
    close: () => observer.end(),
  }
}

/** So that no statement waits for a connection to be made, which would take a different time in every race. */
async function openConnections(pool: pg.Pool): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 8 }, () => pool.connect()))
  for (const client of clients) client.release()
}

async function race<A, B>(
  observer: pg.Client,
  { first, second }: Requests<A, B>,
  schedule: Schedule,
): Promise<Outcome<A, B>> {
  const lanes = [newLane('first'), newLane('second')] as const
  const bell = newBell()
  const course: Course = { lanes: [...lanes], passages: [], moved: bell.ring }
  const answers = Promise.all([runIn(course, lanes[0], first), runIn(course, lanes[1], second)])
  // Whoever waits for the answers hears of the error; a lane that failed is done like any other.
  answers.catch(() => {})
  while (!course.lanes.every(({ isDone }) => isDone)) {
    await settle(observer, course, bell)
    const ready = [0, 1].filter((index) => course.lanes[index]?.held.length)
    if (ready.length === 0) await bell.next(quick)
    else course.lanes[schedule.next(ready)]?.held.shift()?.letGo()
  }
  const [a, b] = await answers
  return { first: a, second: b, passages: course.passages }
}

function newLane(name: string): Lane {
  return { name, held: [], away: new Set(), isDone: false, movedAt: performance.now() }
}

/** Until each request is at a border, done, or waits for the other. */
async function settle(observer: pg.Client, course: Course, bell: Bell): Promise<void> {
  for (;;) {
    const moving = course.lanes.filter((lane) => isMoving(lane))
    if (moving.length === 0) return
    const waiting = await waitingForLocks(observer, moving)
    if (moving.every((lane) => waiting.has(lane))) return
    await bell.next(quick)
  }
}

function isMoving({ held, away, isDone, movedAt }: Lane): boolean {
  if (isDone) return false
  if (away.size > 0) return true
  return held.length === 0 && performance.now() - movedAt < stuck
}

/** Lanes of which a statement waits for a lock that somebody else holds. */
async function waitingForLocks(observer: pg.Client, lanes: Lane[]): Promise<Set<Lane>> {
  const slow = lanes.filter(({ away }) =>
    [...away].some(({ since }) => performance.now() - since > quick),
  )
  if (slow.length === 0) return new Set()
  const pids = slow.flatMap(({ away }) => [...away].map(({ pid }) => pid))
  const { rows } = await observer.query<{ pid: number }>(
    'select pid from unnest($1::int[]) as pid where cardinality(pg_blocking_pids(pid)) > 0',
    [pids],
  )
  const blocked = new Set(rows.map(({ pid }) => pid))
  return new Set(slow.filter((lane) => isBlocked(lane, blocked)))
}

/** What has returned while the database was asked waits for nothing any more. */
function isBlocked({ away }: Lane, pids: Set<number>): boolean {
  return away.size > 0 && [...away].every(({ pid }) => pids.has(pid))
}

interface Bell {
  ring(): void
  /** Resolves at the next ring, or after so many milliseconds. */
  next(milliseconds: number): Promise<void>
}

function newBell(): Bell {
  let wake = () => {}
  return {
    ring: () => wake(),
    next: (milliseconds) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      }),
  }
}
