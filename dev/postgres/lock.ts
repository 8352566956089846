/** Locks a folder for one process; the lock of a killed process is ignored. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

import { readProcessStart } from './processes.ts'

/** Returns a function that releases the lock, or the id of the process that holds it. */
export function takeLock(file: string): { release: () => void } | { heldBy: number } {
  const own = JSON.stringify({ pid: process.pid, start: readProcessStart(process.pid) })
  try {
    writeFileSync(file, own, { flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    const heldBy = lockHolder(file)
    if (heldBy !== undefined) return { heldBy }
    rmSync(file, { force: true })
    return takeLock(file)
  }
  return { release: () => rmSync(file, { force: true }) }
}

/** The id of the running process that holds the lock. */
export function lockHolder(file: string): number | undefined {
  try {
    const { pid, start } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; start?: string }
    // Ids are reused, in containers immediately: only the same start time means the same process.
    return start !== undefined && readProcessStart(pid) === start ? pid : undefined
  } catch {
    return undefined
  }
}
