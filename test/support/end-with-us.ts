import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Has a process that a test started told to stop when ours is gone without having done so: of SIGKILL no test hears, and
 * a server would go on for ever.
 */
export function endWithUs(child: ChildProcess, target = String(child.pid)): void {
  // Its input ends with this process. In a session of its own, as what kills a whole group would end it as well.
  const watch = spawn('/bin/sh', ['-c', 'read -r line; kill -s TERM -- "$1"', 'watch', target], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.unref()
  child.once('exit', () => watch.kill('SIGKILL'))
}
