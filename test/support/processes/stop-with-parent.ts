import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Stops a process of a test when ours is gone without stopping it: SIGKILL cannot be handled, and a server would run
 * forever.
 */
export function endWithUs(child: ChildProcess, target = String(child.pid)): void {
  const watch = watchUs(target)
  child.once('exit', () => watch.kill('SIGKILL'))
}

/** The same for a process that is not a child of this one. Kill the result once that process has ended. */
export function watchUs(target: string, signal = 'TERM'): ChildProcess {
  // Its input ends with this process. In a session of its own, as what kills a whole group would end it as well.
  const watch = spawn(
    '/bin/sh',
    ['-c', 'read -r line; kill -s "$2" -- "$1"', 'watch', target, signal],
    {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  )
  watch.unref()
  return watch
}
