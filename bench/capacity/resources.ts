/** The clock of a simulation, and what its requests queue for. */
import TinyQueue from 'tinyqueue'

export interface Resource {
  name: string
  capacity: number
  free: number
  busyMs: number
  waiting: (() => void)[]
  /** Waits until nothing else does. */
  waitingLow: (() => void)[]
}

export function resource(name: string, capacity: number): Resource {
  return { name, capacity, free: capacity, busyMs: 0, waiting: [], waitingLow: [] }
}

export function acquire(part: Resource, isLow: boolean, then: () => void): void {
  if (part.free === 0) {
    ;(isLow ? part.waitingLow : part.waiting).push(then)
    return
  }
  part.free -= 1
  then()
}

export function release(part: Resource, ms: number): void {
  part.busyMs += ms
  part.free += 1
  const next = part.waiting.shift() ?? part.waitingLow.shift()
  if (!next) return
  part.free -= 1
  next()
}

export type Clock = ReturnType<typeof createClock>

export function createClock() {
  const events = new TinyQueue<{ at: number; run: () => void }>([], (a, b) => a.at - b.at)
  let now = 0
  return {
    now: () => now,
    after(ms: number, run: () => void) {
      events.push({ at: now + ms, run })
    },
    /** Runs the events until this time. */
    runUntil(end: number) {
      for (let event = events.pop(); event && event.at <= end; event = events.pop()) {
        now = event.at
        event.run()
      }
    },
  }
}
