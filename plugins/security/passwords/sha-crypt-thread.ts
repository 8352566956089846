/** Verifies crypt(3) hashes on one worker thread, started at first use. */
import { timingSafeEqual } from 'node:crypto'
import { Worker } from 'node:worker_threads'

import type { ShaCryptHash } from './sha-crypt.ts'
import type { ShaCryptTask } from './sha-crypt-worker.ts'

interface Waiting {
  resolve: (computed: string) => void
  reject: (error: Error) => void
}

const waiting = new Map<number, Waiting>()
let lastId = 0
let thread: Worker | undefined

export async function verifyShaCryptHash(parsed: ShaCryptHash, password: string): Promise<boolean> {
  const computed = await compute({ id: ++lastId, password, parsed })
  return timingSafeEqual(Buffer.from(computed), Buffer.from(parsed.encoded))
}

function compute(task: ShaCryptTask): Promise<string> {
  return new Promise((resolve, reject) => {
    waiting.set(task.id, { resolve, reject })
    thread ??= start()
    thread.ref()
    thread.postMessage(task)
  })
}

function start(): Worker {
  const worker = new Worker(new URL('./sha-crypt-worker.ts', import.meta.url))
  worker.on('message', ({ id, computed }: { id: number; computed: string }) => {
    waiting.get(id)?.resolve(computed)
    waiting.delete(id)
    // An idle worker must not keep the process alive.
    if (waiting.size === 0) worker.unref()
  })
  worker.on('error', (error: Error) => {
    thread = undefined
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  })
  return worker
}
