/** The clock and the resources of a simulation. */
import TinyQueue from 'tinyqueue'

/** Low-priority work yields its core to other work after this time. */
export const lowSliceMs = 0.25

export interface Resource {
  name: string
  capacity: number
  free: number
  busyMs: number
  waiting: (() => void)[]
  /** Waits until nothing else does, or until others had the resource for `lowTurnMs`. */
  waitingLow: (() => void)[]
  sinceLowMs: number
  lowRunning: number
  /** Other work takes this many times longer during low-priority work: both share caches and memory bandwidth. */
  slowdown: number
}

/** The kernel's scheduler gives a thread of niceness 10 a tenth of a core that others keep busy. */
const lowTurnMs = 9 * lowSliceMs

export function resource(name: string, capacity: number, slowdown = 1): Resource {
  const queues = { waiting: [], waitingLow: [] }
  return {
    name,
    capacity,
    free: capacity,
    busyMs: 0,
    ...queues,
    sinceLowMs: 0,
    lowRunning: 0,
    slowdown,
  }
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
  const { thread, cores, isLow = false } = stage
  acquire(thread, isLow, () =>
    acquire(cores, isLow, () => {
      const ms = isLow || cores.lowRunning === 0 ? stage.ms : stage.ms * cores.slowdown
      if (isLow) cores.lowRunning += 1
      clock.after(ms, () => {
        if (isLow) cores.lowRunning -= 1
        release(cores, ms)
        release(thread, ms)
        runStages(clock, rest, done)
      })
    }),
  )
}
