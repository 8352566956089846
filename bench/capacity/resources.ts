/** The clock of a simulation, and what its requests queue for. */
import TinyQueue from 'tinyqueue'

export interface Resource {
  name: string
  capacity: number
  free: number
  busyMs: number
  waiting: (() => void)[]
  /** Waits until nothing else does, or until others had the resource for `lowTurnMs`. */
  waitingLow: (() => void)[]
  sinceLowMs: number
}

/** The kernel's scheduler gives a thread of niceness 10 a tenth of a core that others keep busy, 1 ms at a time. */
const lowTurnMs = 9

export function resource(name: string, capacity: number): Resource {
  return { name, capacity, free: capacity, busyMs: 0, waiting: [], waitingLow: [], sinceLowMs: 0 }
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
  part.sinceLowMs += ms
  const next = takeNext(part)
  if (!next) return
  part.free -= 1
  next()
}

function takeNext(part: Resource): (() => void) | undefined {
  const isLowTurn = part.waiting.length === 0 || part.sinceLowMs >= lowTurnMs
  const low = isLowTurn ? part.waitingLow.shift() : undefined
  if (low) part.sinceLowMs = 0
  return low ?? part.waiting.shift() ?? part.waitingLow.shift()
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

/** Work on a thread, which takes time of a processor core. */
export interface Stage {
  thread: Resource
  cores: Resource
  ms: number
  isLow?: boolean
}

export function runStages(clock: Clock, stages: readonly Stage[], done: () => void): void {
  const [stage, ...rest] = stages
  if (!stage) {
    done()
    return
  }
  const { thread, cores, ms, isLow = false } = stage
  acquire(thread, isLow, () =>
    acquire(cores, isLow, () =>
      clock.after(ms, () => {
        release(cores, ms)
        release(thread, ms)
        runStages(clock, rest, done)
      }),
    ),
  )
}
