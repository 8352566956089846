/** Which of two requests continues at each pause: determined by a seed, so that a race can be repeated. */

export interface Schedule {
  /** Which request (0 or 1) continues, of those whose statement is paused. */
  next(ready: readonly number[]): number
}

/** Up to this many statements of one request run before the other request runs to its end. */
const tried = 12

/**
 * The first seeds try each single interruption: one request is paused after 0, 1, 2, ... statements while the other
 * runs to its end, and vice versa. Later seeds choose randomly at each pause.
 */
export function createSchedule(seed: number): Schedule {
  return seed < 2 * tried ? interrupted(seed % 2, Math.floor(seed / 2)) : thrown(seed)
}

function interrupted(leader: number, statements: number): Schedule {
  let passed = 0
  return {
    next(ready) {
      const expected = passed < statements ? leader : 1 - leader
      const [first = 0] = ready
      const chosen = ready.includes(expected) ? expected : first
      if (chosen === leader) passed += 1
      return chosen
    },
  }
}

function thrown(seed: number): Schedule {
  const random = seededRandom(seed)
  return {
    next(ready) {
      return ready[Math.floor(random() * ready.length)] ?? 0
    },
  }
}

/** Numbers from 0 to 1 that follow from the seed: the mixing function of SplitMix32. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}
