/**
 * Two requests of one server, each held before every statement it sends to the database until somebody lets it go on.
 * Whose statement it is, the asynchronous context tells: it begins where the request does.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

import type pg from 'pg'

import { heldText } from '../statements.ts'

/** One statement, with the moments (counted, not timed) at which it was let go and at which it had returned. */
export interface Passage {
  lane: string
  text: string
  sent: number
  returned: number
}

/** What a request does at present. */
export interface Lane {
  name: string
  /** Statements at the border, in the order in which they came there. */
  held: Held[]
  /** Statements that were let go and have not returned. */
  away: Set<Away>
  isDone: boolean
  /** When anything last happened, in milliseconds. */
  movedAt: number
}

interface Held {
  text: string
  letGo(): void
}

interface Away {
  /** Of the database's process that runs the statement. */
  pid: number
  since: number
}

/** Everything that is known of one race while it runs. */
export interface Course {
  lanes: Lane[]
  passages: Passage[]
  /** Called whenever a lane comes to a border, returns from a statement, or is done. */
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
    // A request that is injected begins when it is waited for, which has to be inside as well.
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
        // What a request leaves to be done after its answer is not part of the race.
        if (!place || place.lane.isDone) return send()
        return pass(place, heldText(args[0]), pidOf(client), send)
      },
    })
  })
}

async function pass(place: Place, text: string, pid: number, send: () => unknown) {
  const { course, lane } = place
  await new Promise<void>((resolve) => {
    lane.held.push({ text, letGo: resolve })
    note(place)
  })
  lane.movedAt = performance.now()
  const passage = { lane: lane.name, text, sent: momentOf(course), returned: Number.NaN }
  course.passages.push(passage)
  const away = { pid, since: performance.now() }
  lane.away.add(away)
  try {
    return await send()
  } finally {
    passage.returned = momentOf(course)
    lane.away.delete(away)
    note(place)
  }
}

function note({ course, lane }: Place): void {
  lane.movedAt = performance.now()
  course.moved()
}

/** One more than all moments before. */
function momentOf({ passages }: Course): number {
  const moments = passages.flatMap(({ sent, returned }) => [sent, returned || 0])
  return Math.max(0, ...moments) + 1
}

function pidOf(client: pg.PoolClient): number {
  return 'processID' in client ? Number(client.processID) : 0
}
