/** Runs two requests against each other, statement by statement, in the order that a seed decides. */
import pg from 'pg'

import { type Course, type Lane, type Passage, runIn, watch } from './lanes.ts'
import { createSchedule, type Schedule } from './schedule.ts'

/** How long a statement may take before the database is asked whether it waits for a lock, in milliseconds. */
const quick = 3

/** A request that sends no statement for this long waits for something in this process that the other one has. */
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
  /** Statements in the order they were sent to the database. */
  passages: Passage[]
}

/** A server’s pool, and a connection that queries lock waits. */
export async function openRacetrack(pool: pg.Pool, url: string): Promise<Racetrack> {
  const observer = new pg.Client({ connectionString: url })
  // The database may be dropped before this is closed.
  observer.on('error', () => {})
  await observer.connect()
  watch(pool)
  await openConnections(pool)
  return {
    race: (requests, seed) => race(observer, requests, createSchedule(seed)),
    close: () => observer.end(),
  }
}

/** So that no statement waits for a new connection, which would take a different time in each race. */
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
  const signal = createSignal()
  const course: Course = { lanes: [...lanes], passages: [], moved: signal.notify }
  const responses = Promise.all([runIn(course, lanes[0], first), runIn(course, lanes[1], second)])
  // Callers who await the responses get the error; a failed lane is complete like any other.
  responses.catch(() => {})
  while (!course.lanes.every(({ isDone }) => isDone)) {
    await settle(observer, course, signal)
    const ready = [0, 1].filter((index) => course.lanes[index]?.held.length)
    if (ready.length === 0) await signal.next(quick)
    else course.lanes[schedule.next(ready)]?.held.shift()?.release()
  }
  const [a, b] = await responses
  return { first: a, second: b, passages: course.passages }
}

function newLane(name: string): Lane {
  return { name, held: [], inFlight: new Set(), isDone: false, movedAt: performance.now() }
}

/** Until each request is at a border, done, or waits for the other. */
async function settle(observer: pg.Client, course: Course, signal: Signal): Promise<void> {
  for (;;) {
    const moving = course.lanes.filter((lane) => isMoving(lane))
    if (moving.length === 0) return
    const waiting = await waitingForLocks(observer, moving)
    if (moving.every((lane) => waiting.has(lane))) return
    await signal.next(quick)
  }
}

function isMoving({ held: lock, inFlight, isDone, movedAt }: Lane): boolean {
  if (isDone) return false
  if (inFlight.size > 0) return true
  return lock.length === 0 && performance.now() - movedAt < stuck
}

/** Lanes with a statement that waits for a lock of another transaction. */
async function waitingForLocks(observer: pg.Client, lanes: Lane[]): Promise<Set<Lane>> {
  const slow = lanes.filter(({ inFlight }) =>
    [...inFlight].some(({ since }) => performance.now() - since > quick),
  )
  if (slow.length === 0) return new Set()
  const pids = slow.flatMap(({ inFlight }) => [...inFlight].map(({ pid }) => pid))
  const { rows } = await observer.query<{ pid: number }>(
    'select pid from unnest($1::int[]) as pid where cardinality(pg_blocking_pids(pid)) > 0',
    [pids],
  )
  const blocked = new Set(rows.map(({ pid }) => pid))
  return new Set(slow.filter((lane) => isBlocked(lane, blocked)))
}

/** A statement that returned during the query waits for nothing. */
function isBlocked({ inFlight }: Lane, pids: Set<number>): boolean {
  return inFlight.size > 0 && [...inFlight].every(({ pid }) => pids.has(pid))
}

interface Signal {
  notify(): void
  /** Resolves at the next notification, or after so many milliseconds. */
  next(milliseconds: number): Promise<void>
}

function createSignal(): Signal {
  let wake = () => {}
  return {
    notify: () => wake(),
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
