/** The worker that computes crypt(3) hashes: Node has no asynchronous function for them. */
import { parentPort } from 'node:worker_threads'

import { type ShaCryptHash, shaCrypt } from './sha-crypt.ts'

export interface ShaCryptTask {
  id: number
  password: string
  parsed: ShaCryptHash
}

parentPort?.on('message', ({ id, password, parsed }: ShaCryptTask) => {
  parentPort?.postMessage({ id, computed: shaCrypt(password, parsed) })
})
