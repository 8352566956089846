/** How long work blocks the event loop. */

export interface Blocked {
  /** The longest time in which no other request was handled. */
  milliseconds: number
  /** Processor time of this thread, which other processes do not change. */
  cpuMilliseconds: number
}

/** Runs the work while the event loop is watched. */
export async function measureBlocked(work: () => Promise<unknown>): Promise<Blocked> {
  let [isRunning, longest, last] = [true, 0, performance.now()]
  const watch = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (isRunning) setImmediate(watch)
  }
  setImmediate(watch)
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  await new Promise(setImmediate)
  isRunning = false
  return { milliseconds: longest, cpuMilliseconds: (user + system) / 1000 }
}
