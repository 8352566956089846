/** Ends Postgres with the process that started it, however that ends: of SIGKILL nobody hears. */
import { spawn } from 'node:child_process'

/**
 * Reads until its input ends, which the system does with the process that has the other end of it. Then it stops the
 * Postgres of the folder $1, unless its process id is somebody else's by now.
 */
const watching = `
  read -r line
  pid=$(head -n 1 "$1/postmaster.pid") || exit
  { cat "/proc/$pid/cmdline" || ps -p "$pid" -o command=; } 2>/dev/null | grep -aqF -- "$1" &&
    kill -INT "$pid"
`

/** Returns what ends the watch. A system without this shell has none: the next start in the folder ends what was left. */
export function endWithOwner(cluster: string): () => void {
  // Detached, as Ctrl-C reaches the whole group.
  const watch = spawn('/bin/sh', ['-c', watching, 'postern', cluster], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.on('error', () => {})
  watch.unref()
  return () => void watch.kill('SIGKILL')
}
