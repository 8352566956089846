/** Lowers the priority of libuv's thread pool, which computes hashes, where the system supports it. */
import { readdirSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setPriority } from 'node:os'

/** Hashes keep a tenth of a core when all cores are busy. */
const niceness = 10

const tasks = '/proc/self/task'

/**
 * True when hashing does not slow requests without hashes. Only Linux has per-thread priorities (setpriority(2)); on
 * other systems nothing changes.
 */
export async function lowerPoolPriority(): Promise<boolean> {
  if (process.platform !== 'linux') return false
  // Starts the pool.
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
