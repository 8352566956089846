/**
 * Two requests of one server, each paused before each statement until the scheduler lets it continue. The asynchronous
 * context identifies the request of a statement.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

import type pg from 'pg'

import { bufferedText } from '../statements.ts'

/** One statement, with the times (counted, not measured) at which it was sent and had returned. */
export interface Passage {
  lane: string
  text: string
  sent: number
  returned: number
}

/** The current activity of a request. */
export interface Lane {
  name: string
  /** Paused statements in order of arrival. */
  held: RowLock[]
  /** Statements that were sent and have not returned. */
  inFlight: Set<InFlight>
  isDone: boolean
  /** When anything last happened, in milliseconds. */
  movedAt: number
}

interface RowLock {
  text: string
  release(): void
}

interface InFlight {
  /** Of the database's process that runs the statement. */
  pid: number
  since: number
}

/** The state of a running race. */
export interface Course {
  lanes: Lane[]
  passages: Passage[]
  /** Called whenever a lane pauses, returns from a statement or completes. */
  moved(): void
}

interface Place {
  course: Course
  lane: Lane
}

const places = new AsyncLocalStorage<Place>()

/** Runs a request in its lane. */
export async function runIn<T>(course: Course, lane: Lane, act: () => Promise<T>): Promise<T> {
  try {
    // An injected request begins when it is awaited, which has to be inside as well.
    return await places.run({ course, lane }, async () => await act())
  } finally {
    lane.isDone = true
    note({ course, lane })
  }
}

const watched = new WeakSet<pg.PoolClient>()

/** From now on every statement on the pool waits at the border, if a request in a lane sends it. */
export function watch(pool: pg.Pool): void {
  pool.on('acquire', (client) => {
    if (watched.has(client)) return
    watched.add(client)
    client.query = new Proxy(client.query, {
      apply(query, self, args) {
        const place = places.getStore()
        const send = () => Reflect.apply(query, self, args)
        // Work after the response is not part of the race.
        if (!place || place.lane.isDone) return send()
        return pass(place, bufferedText(args[0]), getPid(client), send)
      },
    })
  })
}

async function pass(place: Place, text: string, pid: number, send: () => unknown) {
  const { course, lane } = place
  await new Promise<void>((resolve) => {
    lane.held.push({ text, release: resolve })
    note(place)
  })
  lane.movedAt = performance.now()
  const passage = { lane: lane.name, text, sent: getNextTime(course), returned: Number.NaN }
  course.passages.push(passage)
  const inFlight = { pid, since: performance.now() }
  lane.inFlight.add(inFlight)
  try {
    return await send()
  } finally {
    passage.returned = getNextTime(course)
    lane.inFlight.delete(inFlight)
    note(place)
  }
}

function note({ course, lane }: Place): void {
  lane.movedAt = performance.now()
  course.moved()
}

/** One more than all times before. */
function getNextTime({ passages }: Course): number {
  const times = passages.flatMap(({ sent, returned }) => [sent, returned || 0])
  return Math.max(0, ...times) + 1
}

function getPid(client: pg.PoolClient): number {
  return 'processID' in client ? Number(client.processID) : 0
}
