/** Which of two requests goes on at each border: decided by a number, so that the number repeats a race. */

export interface Schedule {
  /** Which lane (0 or 1) goes on, of those whose statement waits. */
  next(ready: readonly number[]): number
}

/** Up to so many statements of one request are tried out before the other runs to its end, one by one. */
const tried = 12

/**
 * The first seeds try every single interruption: one request is stopped after 0, 1, 2, ... statements, and the other
 * runs to its end in between; both ways round. The seeds after them throw a coin at every border.
 */
export function scheduleOf(seed: number): Schedule {
  return seed < 2 * tried ? interrupted(seed % 2, Math.floor(seed / 2)) : thrown(seed)
}

function interrupted(leader: number, statements: number): Schedule {
  let passed = 0
  return {
    next(ready) {
      const wanted = passed < statements ? leader : 1 - leader
      const [first = 0] = ready
      const chosen = ready.includes(wanted) ? wanted : first
      if (chosen === leader) passed += 1
      return chosen
    },
  }
}

function thrown(seed: number): Schedule {
  const random = randomOf(seed)
  return {
    next(ready) {
      return ready[Math.floor(random() * ready.length)] ?? 0
    },
  }
}

/** Numbers from 0 to 1 that follow from the seed: the mixing function of SplitMix32. */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}
