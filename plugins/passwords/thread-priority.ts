/** Hashes run in the pool of threads that libuv keeps, which is given a low priority where the system can do that. */
import { readdirSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setPriority } from 'node:os'

/** A tenth of a core is theirs where all cores are wanted by others. */
const niceness = 10

const tasks = '/proc/self/task'

/**
 * True when whoever needs no hash is served as if nobody hashed. Linux alone keeps a priority for each thread
 * (setpriority(2)); elsewhere nothing is changed.
 */
export async function lowerPoolPriority(): Promise<boolean> {
  if (process.platform !== 'linux') return false
  // The pool begins with its first job.
  await stat('/')
  try {
    const pool = readdirSync(tasks).filter(
      (id) => readFileSync(`${tasks}/${id}/comm`, 'utf8').trim() === 'libuv-worker',
    )
    for (const id of pool) setPriority(Number(id), niceness)
    return pool.length > 0
  } catch {
    return false
  }
}
