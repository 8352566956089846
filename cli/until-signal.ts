import { constants } from 'node:os'

/** How often a process that npm started looks whether it still has its parent. */
const lookMs = 500

/**
 * Resolves at the first of these signals. A further one, a second later or more, ends the process at once:
 * the terminal and npm both pass a Ctrl-C on, so that one arrives twice.
 */
export function untilSignal(signals: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> {
  let first: number | undefined
  return new Promise((resolve) => {
    const heard = (signal: NodeJS.Signals) => {
      if (first !== undefined && performance.now() - first >= 1_000) process.exit(1)
      first ??= performance.now()
      resolve(signal)
    }
    for (const signal of signals) process.on(signal, heard)
    if (process.env.npm_lifecycle_event !== undefined) onOrphaned(() => resolve('SIGTERM'))
  })
}

/** A SIGTERM for npm ends npm and its shell, which does not pass it on: the shell's end stands for it. */
function onOrphaned(end: () => void): void {
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    end()
  }, lookMs)
  look.unref()
}

/**
 * For a command that has nothing to end. The first process of a container is not ended by a signal that it does not hear:
 * it would work on until it is killed. Ends it at once, as any other process is, with the code that shells give.
 */
export function endOnSignals(): void {
  if (process.pid !== 1) return
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => process.exit(128 + constants.signals[name]))
  }
}
