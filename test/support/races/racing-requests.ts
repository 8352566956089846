/**
 * Two requests of one server, each paused before each statement until the scheduler lets it continue. The asynchronous
 * context identifies the request of a statement.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

import type pg from 'pg'

import { bufferedText } from '../statements.ts'

/** One statement, with the times (counted, not measured) at which it was sent and returned. */
export interface StatementTiming {
  request: string
  text: string
  sent: number
  returned: number
}

/** The current activity of a request. */
export interface RacingRequest {
  name: string
  /** Paused statements in order of arrival. */
  paused: PausedStatement[]
  /** Statements that were sent and have not returned. */
  inFlight: Set<InFlight>
  isDone: boolean
  /** The time of the last activity, in milliseconds. */
  lastActivityAt: number
}

interface PausedStatement {
  text: string
  release(): void
}

interface InFlight {
  /** Of the database's process that runs the statement. */
  pid: number
  since: number
}

/** The state of a running race. */
export interface RaceState {
  requests: RacingRequest[]
  statements: StatementTiming[]
  /** Called whenever a request pauses, returns from a statement or completes. */
  onProgress(): void
}

interface RequestContext {
  state: RaceState
  request: RacingRequest
}

const contexts = new AsyncLocalStorage<RequestContext>()

/** Runs `act` as this request of the race. */
export async function runRequest<T>(
  state: RaceState,
  request: RacingRequest,
  act: () => Promise<T>,
): Promise<T> {
  try {
    // An injected request begins when it is awaited, which has to be inside as well.
    return await contexts.run({ state, request }, async () => await act())
  } finally {
    request.isDone = true
    recordProgress({ state, request })
  }
}

const watched = new WeakSet<pg.PoolClient>()

/** Pauses every statement that a racing request sends on the pool from now on. */
export function watch(pool: pg.Pool): void {
  pool.on('acquire', (client) => {
    if (watched.has(client)) return
    watched.add(client)
    client.query = new Proxy(client.query, {
      apply(query, self, args) {
        const context = contexts.getStore()
        const send = () => Reflect.apply(query, self, args)
        // Work after the response is not part of the race.
        if (!context || context.request.isDone) return send()
        return pass(context, bufferedText(args[0]), getPid(client), send)
      },
    })
  })
}

async function pass(context: RequestContext, text: string, pid: number, send: () => unknown) {
  const { state, request } = context
  await new Promise<void>((resolve) => {
    request.paused.push({ text, release: resolve })
    recordProgress(context)
  })
  request.lastActivityAt = performance.now()
  const timing = { request: request.name, text, sent: getNextTime(state), returned: Number.NaN }
  state.statements.push(timing)
  const inFlight = { pid, since: performance.now() }
  request.inFlight.add(inFlight)
  try {
    return await send()
  } finally {
    timing.returned = getNextTime(state)
    request.inFlight.delete(inFlight)
    recordProgress(context)
  }
}

function recordProgress({ state, request }: RequestContext): void {
  request.lastActivityAt = performance.now()
  state.onProgress()
}

/** One more than all times before. */
function getNextTime({ statements }: RaceState): number {
  const times = statements.flatMap(({ sent, returned }) => [sent, returned || 0])
  return Math.max(0, ...times) + 1
}

function getPid(client: pg.PoolClient): number {
  return 'processID' in client ? Number(client.processID) : 0
}
