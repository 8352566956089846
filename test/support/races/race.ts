/** Runs two requests against each other, statement by statement, in the order that a seed decides. */
import pg from 'pg'

import {
  type RaceState,
  type RacingRequest,
  runRequest,
  type StatementTiming,
  watch,
} from './racing-requests.ts'
import { createSchedule, type Schedule } from './schedule.ts'

/** How long a statement may take before the database is asked whether it waits for a lock, in milliseconds. */
const quick = 3

/** A request that sends no statement for this long waits for something in this process that the other one has. */
const stuck = 250

export interface RaceRunner {
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
  statements: StatementTiming[]
}

/** A server’s pool, and a connection that queries lock waits. */
export async function createRaceRunner(pool: pg.Pool, url: string): Promise<RaceRunner> {
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
  const requests = [newRequest('first'), newRequest('second')] as const
  const signal = createSignal()
  const state: RaceState = { requests: [...requests], statements: [], onProgress: signal.notify }
  const responses = Promise.all([
    runRequest(state, requests[0], first),
    runRequest(state, requests[1], second),
  ])
  // Callers who await the responses get the error; a failed request is complete like any other.
  responses.catch(() => {})
  while (!state.requests.every(({ isDone }) => isDone)) {
    await settle(observer, state, signal)
    const ready = [0, 1].filter((index) => state.requests[index]?.paused.length)
    if (ready.length === 0) await signal.next(quick)
    else state.requests[schedule.next(ready)]?.paused.shift()?.release()
  }
  const [a, b] = await responses
  return { first: a, second: b, statements: state.statements }
}

function newRequest(name: string): RacingRequest {
  return { name, paused: [], inFlight: new Set(), isDone: false, lastActivityAt: performance.now() }
}

/** Waits until each request is paused, done, or waits for the other. */
async function settle(observer: pg.Client, state: RaceState, signal: Signal): Promise<void> {
  for (;;) {
    const running = state.requests.filter((request) => isRunning(request))
    if (running.length === 0) return
    const waiting = await waitingForLocks(observer, running)
    if (running.every((request) => waiting.has(request))) return
    await signal.next(quick)
  }
}

function isRunning({ paused: lock, inFlight, isDone, lastActivityAt }: RacingRequest): boolean {
  if (isDone) return false
  if (inFlight.size > 0) return true
  return lock.length === 0 && performance.now() - lastActivityAt < stuck
}

/** Requests with a statement that waits for a lock of another transaction. */
async function waitingForLocks(
  observer: pg.Client,
  requests: RacingRequest[],
): Promise<Set<RacingRequest>> {
  const slow = requests.filter(({ inFlight }) =>
    [...inFlight].some(({ since }) => performance.now() - since > quick),
  )
  if (slow.length === 0) return new Set()
  const pids = slow.flatMap(({ inFlight }) => [...inFlight].map(({ pid }) => pid))
  const { rows } = await observer.query<{ pid: number }>(
    'select pid from unnest($1::int[]) as pid where cardinality(pg_blocking_pids(pid)) > 0',
    [pids],
  )
  const blocked = new Set(rows.map(({ pid }) => pid))
  return new Set(slow.filter((request) => isBlocked(request, blocked)))
}

/** A statement that returned during the query waits for nothing. */
function isBlocked({ inFlight }: RacingRequest, pids: Set<number>): boolean {
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
