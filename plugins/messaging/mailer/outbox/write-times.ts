import { maxAttempts } from './first-attempts.ts'

const intervalMs = 25

/**
 * Returns a function that waits for the next time to write: now, or 25 ms after the previous one, or as soon as four
 * attempts wait. What is written at one time is committed together (plugins/database/driver/group-commit.ts).
 */
export function createWriteTimes(): () => Promise<void> {
  const waiting: (() => void)[] = []
  let last = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function write(): void {
    clearTimeout(timer)
    last = performance.now()
    for (const proceed of waiting.splice(0)) proceed()
  }

  return () =>
    new Promise((proceed) => {
      waiting.push(proceed)
      const restMs = Math.max(0, last + intervalMs - performance.now())
      if (waiting.length === 1) timer = setTimeout(write, restMs)
      if (waiting.length === maxAttempts) write()
    })
}
