/** Distinguishes a process from a later one with the same id. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** When the process was started, in the system's own form; undefined when there is none. */
export function readProcessStart(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps(pid, 'lstart=')
  const stat = readProc(pid, 'stat')
  // The command name may contain blanks and parentheses; fields are counted after it.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

/** The command line of the process; undefined when there is none. */
export function readProcessCommand(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps(pid, 'command=')
  return readProc(pid, 'cmdline')?.replaceAll('\0', ' ')
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

function ps(pid: number, field: string): string | undefined {
  const { status, stdout } = spawnSync('ps', ['-p', String(pid), '-o', field], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
