import { constants } from 'node:os'

/** How often a process started by npm checks whether its parent exists, in milliseconds. */
const pollIntervalMs = 500

/**
 * Resolves at the first of these signals. Another one, a second later or more, ends the process immediately: the
 * terminal and npm both forward a Ctrl-C, so that it arrives twice.
 */
export function untilSignal(signals: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> {
  let first: number | undefined
  return new Promise((resolve) => {
    const onSignal = (signal: NodeJS.Signals) => {
      if (first !== undefined && performance.now() - first >= 1_000) process.exit(1)
      first ??= performance.now()
      resolve(signal)
    }
    for (const signal of signals) process.on(signal, onSignal)
    if (process.env.npm_lifecycle_event !== undefined) onOrphaned(() => resolve('SIGTERM'))
  })
}

/** A SIGTERM ends npm and its shell, which does not forward it: the end of the shell is treated as the signal. */
function onOrphaned(end: () => void): void {
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    end()
  }, pollIntervalMs)
  look.unref()
}

/**
 * For a command without cleanup. PID 1 of a container ignores signals without a handler. Ends the process immediately
 * with the exit code of shells.
 */
export function endOnSignals(): void {
  if (process.pid !== 1) return
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => process.exit(128 + constants.signals[name]))
  }
}
