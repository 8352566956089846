/** Stops Postgres when the process that started it ends, even by SIGKILL. */
import { spawn } from 'node:child_process'

/**
 * Reads until its input is closed, which happens when the parent process ends. Then it stops the Postgres in folder $1,
 * unless the process id was reused.
 */
const watching = `
  read -r line
  pid=$(head -n 1 "$1/postmaster.pid") || exit
  { cat "/proc/$pid/cmdline" || ps -p "$pid" -o command=; } 2>/dev/null | grep -aqF -- "$1" &&
    kill -INT "$pid"
`

/**
 * Returns a function that ends the watch. Without this shell there is none: the next start in the folder stops what was
 * left.
 */
export function endWithOwner(cluster: string): () => void {
  // Detached, because Ctrl-C signals the whole process group.
  const watch = spawn('/bin/sh', ['-c', watching, 'postern', cluster], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.on('error', () => {})
  watch.unref()
  return () => void watch.kill('SIGKILL')
}
